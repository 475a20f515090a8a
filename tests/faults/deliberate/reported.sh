#!/bin/sh
# reported.sh CODE TEXT PROGRAM [ARGUMENT ...]: the program ends with that exit code, and says that text.
set -u
code=$1 text=$2
shift 2
said=$("$@" 2>&1)
got=$?
echo "$said"
if [ $got -ne "$code" ]; then
    echo "reported.sh: the exit code is $got, but should be $code"
    exit 1
fi
case $said in *"$text"*) ;; *)
    echo "reported.sh: nothing says '$text'"
    exit 1
    ;;
esac
