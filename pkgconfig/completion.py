#!/usr/bin/env python3
"""What bash, zsh and fish complete of the command line of apsis, made from what the command says of itself.

    completion.py APSIS FOLDER     writes FOLDER/bash/apsis, FOLDER/zsh/_apsis and FOLDER/fish/apsis.fish
"""
import pathlib
import sys

from command_help import Command


# ---- bash ----

BASH = '''\
# Completion of apsis {version} for bash.
_apsis() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} option=${{COMP_WORDS[COMP_CWORD - 1]}} words='' files=''
    if [[ $word == = ]]; then word=''; elif [[ $option == = ]]; then option=${{COMP_WORDS[COMP_CWORD - 2]}}; fi
    case $COMP_CWORD:${{COMP_WORDS[1]}}:$option in
{cases}
    esac
    if [[ -n $files && $word != -* ]]; then
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    fi
}}
complete -F _apsis apsis
'''


def bash_cases(verb, help):
    for option in help.options:
        if option.value:
            what = " files=1" if option.is_file else f" words='{' '.join(option.choices)}'"
            yield f"    *:{verb}:{option.names[-1]}){what} ;;"
    files = " files=1" if help.arguments else ""
    yield f"    *:{verb}:*) words='{' '.join(name for option in help.options for name in option.names)}'{files} ;;"


def bash(command):
    words = [entry.left for entry in command.help.arguments]
    words += [name for option in command.help.options for name in option.names]
    cases = [f"    1:*) words='{' '.join(words)}' ;;"]
    cases += [case for verb, help in command.verbs.items() for case in bash_cases(verb, help)]
    cases.append(f"    *:help:*) words='{' '.join(command.verbs)}' ;;")
    return BASH.format(version=command.version, cases="\n".join(cases))


# ---- zsh ----

ZSH = '''\
#compdef apsis
# Completion of apsis {version} for zsh.
local -a verbs=(
{verbs}
)
if ((CURRENT == 2)); then
    _describe -t verbs verb verbs
    _arguments {options}
    return
fi
shift words
((CURRENT--))
case $words[1] in
{cases}
help)
    verbs=(${{verbs:#help:*}})
    _describe -t verbs verb verbs
    ;;
esac
'''


def zsh_quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def zsh_text(text):
    return "".join("\\" + letter if letter in "[]:\\" else letter for letter in text)


def zsh_option(option):
    what = f"[{zsh_text(option.summary)}]"
    if not option.value:
        return " ".join(zsh_quoted(name + what) for name in option.names)
    action = "_files" if option.is_file else f"({' '.join(option.choices)})" if option.choices else " "
    return zsh_quoted(f"{option.names[-1]}={what}:{zsh_text(option.value)}:{action}")


def zsh_case(verb, help):
    specs = [zsh_option(option) for option in help.options]
    specs += [zsh_quoted(f"{place}:{argument.left}:_files") for place, argument in enumerate(help.arguments, 1)]
    return f"{verb})\n    _arguments \\\n        " + " \\\n        ".join(specs) + "\n    ;;"


def zsh(command):
    return ZSH.format(
        version=command.version,
        verbs="\n".join("    " + zsh_quoted(f"{entry.left}:{zsh_text(entry.summary)}") for entry in command.help.arguments),
        options=" ".join(zsh_option(option) for option in command.help.options),
        cases="\n".join(zsh_case(verb, help) for verb, help in command.verbs.items()))


# ---- fish ----

def fish_quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish_option(condition, option):
    words = ["complete -c apsis", f"-n {fish_quoted(condition)}"]
    words += [f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names]
    if option.value:
        words.append("-r -F" if option.is_file else f"-x -a {fish_quoted(' '.join(option.choices))}")
    return " ".join([*words, "-d", fish_quoted(option.summary)])


def fish(command):
    lines = [f"# Completion of apsis {command.version} for fish."]
    for entry in command.help.arguments:
        lines.append(f"complete -c apsis -n __fish_use_subcommand -f -a {entry.left} -d {fish_quoted(entry.summary)}")
    lines += [fish_option("__fish_use_subcommand", option) for option in command.help.options]
    for verb, help in command.verbs.items():
        lines += [fish_option(f"__fish_seen_subcommand_from {verb}", option) for option in help.options]
    lines.append(f"complete -c apsis -n '__fish_seen_subcommand_from help' -f -a {fish_quoted(' '.join(command.verbs))}")
    return "\n".join(lines) + "\n"


def main(path, folder):
    command = Command(path)
    for name, text in (("bash/apsis", bash(command)), ("zsh/_apsis", zsh(command)), ("fish/apsis.fish", fish(command))):
        file = pathlib.Path(folder) / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
