#!/bin/sh
# words.sh COMMAND ARGS.DICT: every word of the command's help is in the dictionary.
set -eu
words=$(for verb in $("$1" --help | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p'); do
    echo "$verb"
    [ "$verb" = help ] || "$1" "$verb" --help | sed -nE 's/^  (-[a-z], )?(--[a-z-]+)( [^ ]+)?.*/\2 \3/p' | tr ' |' '\n\n'
done | grep -vE '^$|[][A-Z]' | sed 's/.*/"&"/')
case $words in *--spacing*) ;; *)
    echo "words.sh: no --spacing in the help of $1"
    exit 1
    ;;
esac
lacking=$(echo "$words" | LC_ALL=C sort -u | grep -vxFf "$2") || exit 0
echo "words.sh: $2 lacks" $lacking
exit 1
