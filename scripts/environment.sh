# Sourced by scripts/quickstart and scripts/test: stand in the project, with a virtual environment that has it installed.
#   use_environment EXTRAS     for example: use_environment peers,dev
show_help() {  # the comment lines at the top of the calling script
  sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"
}
use_environment() {
  cd "$(dirname "${BASH_SOURCE[0]}")/.."
  if ! "${PYTHON:-python3}" -c 'import sys; sys.exit(sys.prefix == sys.base_prefix)' 2>/dev/null; then
    if [ ! -x .venv/bin/python ]; then
      "${PYTHON:-python3}" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
        echo "error: bgnet needs Python 3.11 or later; name one with PYTHON=/path/to/python3 $0" >&2
        exit 1
      }
      echo "making a virtual environment in .venv"
      "${PYTHON:-python3}" -m venv .venv
    fi
    # shellcheck disable=SC1091
    source .venv/bin/activate
  fi
  echo "installing bgnet[$1] (the first time this takes a minute or two)"
  python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[$1]"
}
