# python.sh - an image with this machine's own Python, bash and a few programs.
# shellcheck shell=bash
#
# For tests and benchmarks, after lib.sh.
#
#	program_copy FOLDER FILE...	programs, with what they link to
#	python_copy FOLDER PROGRAM...	/usr/bin/python3 and python, bash, mkdir, the
#					modules of short scripts, and more programs
#	python_modules FOLDER CODE [WORD...]
#				what the code imports of this machine's Python;
#				it has sys, and the words as sys.argv

program_copy()
{
	local folder=$1 library

	shift
	cp -L --parents "$@" "$folder" || return
	# A file of one's own has a colon behind it; some need nothing.
	for library in $(ldd "$@" | grep -oE '/[^ :]+( |$)' | sort -u); do
		[[ -e $folder$library ]] ||
			cp -L --parents "$library" "$folder" || return
	done
}

python_copy()
{
	local folder=$1 module

	shift
	mkdir -p "$folder"/{tmp,root,usr/bin,bin} &&
		program_copy "$folder" /bin/bash /bin/mkdir /usr/bin/python3 "$@" &&
		ln -s python3 "$folder/usr/bin/python" || return
	/usr/bin/python3 -I -S -c 'import argparse, encodings.idna, json, os, shlex
import socket, subprocess, sys, time
for module in list(sys.modules.values()):
    if getattr(module, "__file__", None):
        print(module.__file__)' | while read -r module; do
		cp --parents "$module" "$folder" || return
		[[ $module != *.so ]] || program_copy "$folder" "$module" ||
			return
	done
}

python_modules()
{
	local folder=$1 code=$2 module

	shift 2
	/usr/bin/python3 -I -S -c "import sys
$code
for module in list(sys.modules.values()):
    if (getattr(module, '__file__', None) or '').startswith('/usr'):
        print(module.__file__)" "$@" | while read -r module; do
		cp --parents "$module" "$folder" || return
		[[ $module != *.so ]] || program_copy "$folder" "$module" ||
			return
	done
}
