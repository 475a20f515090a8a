#!/usr/bin/env bash
# completion.sh bash|zsh|fish BUILD APSIS: the shell offers the verbs, every option of each, and the words that an option
# takes: what --help says of them, and nothing else.
set -euo pipefail
shell=$1 folder=$2/pkgconfig/completion apsis=$3
command -v "$shell" >/dev/null || exit 77

# What is offered after these words, one a line.
offered_by_bash() {
    local words=("$@") COMP_WORDS COMP_CWORD COMPREPLY=()
    # shellcheck disable=SC1091
    source "$folder/bash/apsis"
    COMP_WORDS=(apsis "${words[@]}") COMP_CWORD=$#
    _apsis
    printf '%s\n' "${COMPREPLY[@]}"
}

# zsh completes at its prompt only: what _apsis would tell of is printed instead.
offered_by_zsh() {
    zsh -f -c '
        _describe() { print -rl -- ${${(P)4-${(P)3}}%%:*} }
        _arguments() {
            local spec option=${words[CURRENT-1]}
            for spec in "$@"; do
                [[ $spec == -* ]] || continue
                if [[ $option == --* && $spec == $option=* ]]; then print -rl -- ${=${${spec##*:\(}%\)}}; return; fi
            done
            for spec in "$@"; do [[ $spec == -* ]] && print -r -- ${${spec%%\[*}%=}; done
        }
        file=$1
        shift
        words=(apsis "$@") CURRENT=$(($# + 1))
        source $file' zsh "$folder/zsh/_apsis" "$@"
}

offered_by_fish() {
    # shellcheck disable=SC2016
    fish --no-config -c 'source $argv[1]; complete -C "apsis $argv[2..]"' "$folder/fish/apsis.fish" "$@" | cut -f 1
}

# same WORD ...: what is on standard input is offered after these words.
same() {
    local said
    said=$(sort -u)
    if ! diff <("offered_by_$shell" "$@" | sort -u) <(echo "$said"); then
        echo "$shell offers the left after: apsis $*"
        exit 1
    fi
}

long() { grep -oE -- '(^| )--[a-z][a-z-]*' | tr -d ' '; }

verbs=$("$apsis" --help | sed -nE 's/^  ([a-z][a-z-]*)  .*/\1/p')
{ echo "$verbs"; [[ $shell == fish ]] || printf '%s\n' -h --help --version; } | same ''
grep -vx help <<<"$verbs" | same help ''
for verb in $(grep -vx help <<<"$verbs"); do
    help=$("$apsis" help "$verb")
    options=$(grep -E '^  (-[a-z], )?--' <<<"$help" | cut -c 1-40 | sed 's/  [A-Z].*//' | sed 's/^ *//')
    { long <<<"$options"; [[ $shell != zsh ]] || grep -oE '^-[a-z]' <<<"$options" || true; } | same "$verb" --
    while read -r option words; do
        tr '|' '\n' <<<"$words" | grep -xE '[a-z0-9-]+' | same "$verb" "$option" ''
    done < <(grep -oE -- '^  --[a-z-]+ [a-z0-9-]+(\|[A-Za-z0-9-]+)+' <<<"$help")
done
