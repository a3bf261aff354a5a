// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"

#include "app/cli/command.h"
#include "app/cli/command_completion.h"
#include "app/cli/option_values.h"
#include "app/cli/terminal_output.h"
#include "engine/base/error.h"
#include "engine/base/problem_sentence.h"
#include "engine/base/utf8.h"
#include "engine/query/shown_text.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <new>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace spanscope::cli {
namespace {

void describe(CLI::App& app) {
  app.name("spanq");
  app.description("Spanscope on the command line: check, explain, run and export span queries.");
  app.footer("Example:\n  spanq run resources/queries/rag.json resources/queries/rag-swapped.json\n");
  app.set_version_flag("--version", "spanq " SPANSCOPE_VERSION);
  app.require_subcommand(1);
}

/// Returns the arguments after the program's name. "--trace=" becomes "--trace" and an empty word. Otherwise
/// the parser would use the next argument as the value.
std::vector<std::string> withValuesApart(int argc, const char* const* argv) {
  std::vector<std::string> words;
  bool hasOptions = true;
  for (const std::string_view word : std::span(argv, static_cast<std::size_t>(argc)).subspan(1)) {
    hasOptions = hasOptions && word != "--";
    if (hasOptions && word.starts_with("--") && word.find('=') == word.size() - 1) {
      words.emplace_back(word.substr(0, word.size() - 1));
      words.emplace_back();
    } else {
      words.emplace_back(word);
    }
  }
  return words;
}

/// Refuses empty values. Only answers and questions may be empty texts.
void checkIsGiven(const CLI::Option& option, const std::string& type) {
  const std::string name = option.get_name();
  if (name == "--answer" || name == "--reduce-prompt") return;
  for (const std::string& text : option.results()) {
    if (!text.empty()) continue;
    refuseOption(name, "nothing",
                 type == "FILE"    ? /*id:name-file*/ "the name of a file"
                 : type == "DIR"   ? /*id:name-folder*/ "the name of a folder"
                 : type == "MODEL" ? /*id:name-folder-file*/ "the name of a folder or file"
                                   : "a value");
  }
}

/// Refuses empty values, and texts that are not UTF-8, like input from a file or the terminal. Names of files
/// may have any bytes.
void checkTexts(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    const std::string type = option->get_type_name();
    if (option->get_positional()) continue;
    if (option->get_items_expected_max() > 0) checkIsGiven(*option, type);
    if (type == "FILE" || type == "DIR" || type == "MODEL") continue;
    for (const std::string& text : option->results()) {
      if (!isValidUtf8(text))
        refuseOption(option->get_name(), query::inQuotes(toValidUtf8(text)), "text in UTF-8");
    }
  }
  for (const CLI::App* command : app.get_subcommands()) checkTexts(*command);
}

ExitCode perform(int argc, const char* const* argv, Context& context) {
  const Streams& streams = context.streams;
  try {
    CLI::App app;
    describe(app);
    addValidate(app, context);
    addExplain(app, context);
    addRun(app, context);
    addExport(app, context);
    addTrace(app, context);
    addModel(app, context);
    addDevices(app, context);
    addDoctor(app, context);
    addCache(app, context);
    addBench(app, context);
    addRemote(app, context);
    addSimulator(app, context);
    addLesson(app, context);
    addServe(app, context);
    addWatch(app, context);
    addCompletion(app, context);
    addMan(app, context);
    if (argc > 1 && std::string_view(argv[1]) == "__complete") {
      streams.out << completeWords(app, {argv + 2, argv + argc});
      return ExitCode::Fine;
    }
    ExitCode code = ExitCode::Usage;
    try {
      std::vector<std::string> words = withValuesApart(argc, argv);
      // The parser reads the words from the end.
      std::ranges::reverse(words);
      app.parse(std::move(words));
      checkTexts(app);
      if (context.action) code = context.action();
    } catch (const CLI::ParseError& error) {
      return app.exit(error, streams.out, streams.err) == 0 ? ExitCode::Fine : ExitCode::Usage;
    }
    // After a stop, missing input such as an answer is not an error of the user.
    return code == ExitCode::WrongInput && context.stop.stop_requested() ? ExitCode::Stopped : code;
  } catch (const OutputFailure& failure) {
    if (context.stop.stop_requested()) return ExitCode::Stopped;
    streams.err << failure.what() << '\n';
    return ExitCode::RunFailed;
  } catch (const Failure& failure) {
    if (context.stop.stop_requested()) return ExitCode::Stopped;
    streams.err << failure.what() << '\n';
    return ExitCode::WrongInput;
  } catch (const std::bad_alloc&) {
    streams.err << "out of memory\n";
    return ExitCode::RunFailed;
  } catch (const std::system_error& error) {
    streams.err << errorAt("spanq", "the system refused a resource (" + error.code().message() + ")",
                           "free threads, memory and files")
                       .message()
                << '\n';
    return ExitCode::RunFailed;
  } catch (const std::exception& error) {
    streams.err << error.what() << '\n';
    return ExitCode::RunFailed;
  }
}

/// Returns the exit code if the output of a command that ended with `code` was lost.
ExitCode afterLostOutput(ExitCode code, const Streams& streams, const std::stop_token& stop) {
  const bool isStopped = code == ExitCode::Stopped && stop.stop_requested();
  const int error = streams.output != nullptr ? streams.output->error() : 0;
  if (error == EPIPE) return code == ExitCode::Stopped && !isStopped ? ExitCode::Fine : code;
  const std::string found = error == EBADF ? /*id:output-closed*/ "This output is closed."
                            : error != 0   ? systemReport(error)
                                           : "The output cannot be written.";
  streams.err
      << Error{"standard output", {}, found, /*id:can-written*/ "a file that can be written to"}.message()
      << '\n';
  return isStopped ? code : ExitCode::RunFailed;
}

}  // namespace

int runCli(int argc, const char* const* argv, const Streams& given, const compute::Backends& backends,
           std::stop_token stop) {
  const CommandStreams shown(given);
  const Streams& streams = shown.streams();
  std::stop_source work;
  Streams stoppable = streams;
  stoppable.stop = work.get_token();
  Context context{.streams = stoppable, .backends = backends, .stop = stoppable.stop, .action = {}};
  const std::stop_callback stopped(stop, [&work] { work.request_stop(); });
  const std::stop_callback lost(streams.output != nullptr ? streams.output->lost() : std::stop_token(), [&] {
    if (!context.recordsTrace) work.request_stop();
  });
  ExitCode code = perform(argc, argv, context);
  if (!streams.out.flush()) code = afterLostOutput(code, streams, stop);
  streams.err.flush();
  return static_cast<int>(code);
}

}  // namespace spanscope::cli
