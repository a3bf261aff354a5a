#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Renders chat templates with Jinja, in a process of its own. Open this file to change what a template may use.

Templates come from unknown sources. template_process.cpp starts this program with two arguments: bytes of memory, and
seconds of processor time for one request. After the start, the process opens no file and no connection. Each line of
the standard input is a request, and each line of the standard output is its answer, both in JSON:

    {"template": "...", "now": "2024-07-26", "mostBytes": 1000, "renders": [{"messages": [...], "variables": {...}}]}
    {"renders": [{"text": "..."}, {"raised": "..."}, {"failed": "..."}]}

`raised`: the template called raise_exception. `failed`: the template cannot be rendered. The first line of the output
is {"ready": "3.1.2"} with the version of Jinja, or {"missing": "..."}.

The environment is that of Hugging Face's apply_chat_template (transformers, utils/chat_template_utils.py).
"""
import ctypes
import datetime
import json
import os
import resource
import signal
import struct
import sys

# Modules that Jinja imports on first use. Later, nothing can be imported.
import linecache  # noqa: F401
import pprint  # noqa: F401
import textwrap  # noqa: F401
import time
import traceback  # noqa: F401

# The system calls that Python needs after the start, by the number on each processor: read, write, fstat, lseek, mmap,
# mprotect, munmap, brk, rt_sigaction, rt_sigprocmask, rt_sigreturn, mremap, madvise, getpid, setitimer, exit,
# gettimeofday, sigaltstack, gettid, futex, restart_syscall, clock_gettime, exit_group, getrandom, sched_yield.
CALLS = {
    "x86_64": (0xC000003E, [0, 1, 5, 8, 9, 10, 11, 12, 13, 14, 15, 25, 28, 39, 38, 60, 96, 131, 186, 202, 219, 228,
                            231, 318, 24]),
    "aarch64": (0xC00000B7, [63, 64, 80, 62, 222, 226, 215, 214, 134, 135, 139, 216, 233, 172, 103, 93, 169, 132, 178,
                             98, 128, 113, 94, 278, 124]),
}


def write(value):
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def forbid_other_calls():
    """Other system calls fail with EPERM. Other processors have only the limits of limit_this_process()."""
    if os.uname().machine not in CALLS:
        return
    architecture, calls = CALLS[os.uname().machine]
    load, equal, give = 0x20, 0x15, 0x06
    program = [(load, 0, 0, 4), (equal, 1, 0, architecture), (give, 0, 0, 0x80000000), (load, 0, 0, 0)]
    for i, call in enumerate(calls):
        program.append((equal, len(calls) - i, 0, call))
    program += [(give, 0, 0, 0x00050001), (give, 0, 0, 0x7FFF0000)]
    code = b"".join(struct.pack("HBBI", *step) for step in program)
    instructions = ctypes.create_string_buffer(code)
    header = ctypes.create_string_buffer(struct.pack("HP", len(program), ctypes.addressof(instructions)))
    libc = ctypes.CDLL(None)
    seccomp, with_filter = 22, 2
    libc.prctl(seccomp, with_filter, ctypes.c_ulong(ctypes.addressof(header)), 0, 0)


def limit_this_process(memory):
    libc = ctypes.CDLL(None)
    no_new_privileges = 38
    libc.prctl(no_new_privileges, 1, 0, 0, 0)
    for kind, most in [(resource.RLIMIT_CORE, 0), (resource.RLIMIT_AS, memory), (resource.RLIMIT_FSIZE, 0),
                       (resource.RLIMIT_NPROC, 0), (resource.RLIMIT_NOFILE, 0)]:
        resource.setrlimit(kind, (most, most))
    forbid_other_calls()


class Raised(Exception):
    """The template called raise_exception."""


class TooLong(Exception):
    """The template writes too much text."""


def make_environment(now):
    import jinja2
    import jinja2.ext
    import jinja2.sandbox

    class Generation(jinja2.ext.Extension):
        """{% generation %} marks the text of the assistant for training. The text itself does not change."""

        tags = {"generation"}

        def parse(self, parser):
            line = next(parser.stream).lineno
            body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
            return jinja2.nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

        def _body(self, caller):
            return caller()

    def raise_exception(message):
        raise Raised(str(message))

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    def strftime_now(format):
        return now[0].strftime(format)

    class TemplateDict:
        def __call__(self, *args, **kwargs):
            return dict(*args, **kwargs)

        def fromkeys(self, *args, **kwargs):
            return dict.fromkeys(*args, **kwargs)

    def check_name(name):
        if isinstance(name, str) and name.startswith("_"):
            raise jinja2.exceptions.SecurityError(f"a namespace with the underscore-prefixed attribute {name!r}")

    class TemplateNamespace(jinja2.utils.Namespace):
        def __init__(*args, **kwargs):
            self, args = args[0], args[1:]
            attributes = dict(*args, **kwargs)
            for name in attributes:
                check_name(name)
            jinja2.utils.Namespace.__init__(self, attributes)

        def __setitem__(self, name, value):
            check_name(name)
            jinja2.utils.Namespace.__setitem__(self, name, value)

    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    environment.filters["tojson"] = tojson
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = strftime_now
    environment.globals["dict"] = TemplateDict()
    environment.globals["namespace"] = TemplateNamespace
    return environment


def prepared(message):
    """Names of reasoning as apply_chat_template() gives them to templates. Fields that are null are left out."""
    message = {key: value for key, value in message.items() if value is not None}
    reasoning = next((message[key] for key in ("reasoning_content", "thinking", "reasoning") if key in message), None)
    if reasoning is not None:
        message = {"thinking": reasoning, **message, "reasoning_content": reasoning}
    return message


def render(template, request, most_bytes):
    if not request["messages"]:
        raise Raised("a conversation without messages")
    variables = {"tools": None, "documents": None, **request["variables"],
                 "messages": [prepared(message) for message in request["messages"]]}
    parts = []
    size = 0
    for part in template.generate(**variables):
        size += len(part)
        if size > most_bytes:
            raise TooLong
        parts.append(part)
    text = "".join(parts)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def answer(request, environment, templates):
    source = request["template"]
    if source not in templates:
        if len(templates) >= 8:
            templates.clear()
        templates[source] = environment.from_string(source)
    results = []
    left = request["mostBytes"]
    for one in request["renders"]:
        try:
            text = render(templates[source], one, left)
            left -= len(text)
            results.append({"text": text})
        except Raised as error:
            results.append({"raised": str(error)[:2000]})
        except TooLong:
            return {"failed": f"a template that writes more than {request['mostBytes']} bytes"}
        except MemoryError:
            raise
        except Exception as error:  # every fault of a template is an answer
            results.append({"failed": f"{type(error).__name__}: {error}"[:2000]})
    return {"renders": results}


def main():
    memory, seconds = int(sys.argv[1]), int(sys.argv[2])
    sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    now = [datetime.datetime.now()]
    try:
        import jinja2
        import jinja2.constants  # noqa: F401
        import jinja2.debug  # noqa: F401

        environment = make_environment(now)
    except ImportError as error:
        write({"missing": str(error)})
        return 1
    time.tzset()
    try:  # an error for the first time imports modules, too
        environment.from_string("{{ messages[0].x.y }}{{ '%d' | format('a') }}").render(messages=[{}])
    except Exception:
        pass
    limit_this_process(memory)
    write({"ready": jinja2.__version__})
    templates = {}
    for line in sys.stdin:
        # The program that started this one ends it in time. This limit ends it if that program is gone.
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        try:
            request = json.loads(line)
            now[0] = datetime.datetime.fromisoformat(request["now"])
            result = answer(request, environment, templates)
        except MemoryError:
            templates.clear()
            result = {"failed": f"a template that needs more than {memory >> 20} MiB of memory"}
        except Exception as error:
            result = {"failed": f"{type(error).__name__}: {error}"[:2000]}
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        write(result)
        result = None
    return 0


if __name__ == "__main__":
    sys.exit(main())
