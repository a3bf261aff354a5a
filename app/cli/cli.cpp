// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"

#include "app/cli/command.h"
#include "engine/base/error.h"

#include <exception>
#include <new>
#include <ostream>

namespace spanscope::cli {
namespace {

void describe(CLI::App& app) {
  app.name("spanq");
  app.description("Spanscope on the command line: check, explain, run and export span queries.");
  app.footer("Example:\n  spanq run resources/queries/rag.json resources/queries/rag-swapped.json\n");
  app.set_version_flag("--version", "spanq " SPANSCOPE_VERSION);
  app.require_subcommand(1);
}

}  // namespace

int runCli(int argc, const char* const* argv, const Streams& streams, std::stop_token stop) {
  const auto finish = [&streams](ExitCode code) {
    streams.out.flush();
    streams.err.flush();
    return static_cast<int>(code);
  };
  try {
    Context context{.streams = streams, .stop = stop, .action = {}};
    CLI::App app;
    describe(app);
    addValidate(app, context);
    addExplain(app, context);
    addRun(app, context);
    addExport(app, context);
    addTrace(app, context);
    addModel(app, context);
    addBench(app, context);
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      return finish(app.exit(error, streams.out, streams.err) == 0 ? ExitCode::Fine : ExitCode::Usage);
    }
    const ExitCode code = context.action ? context.action() : ExitCode::Usage;
    // What is missing because of a stop, such as the answer to a question, is no mistake of the input.
    return finish(code == ExitCode::WrongInput && stop.stop_requested() ? ExitCode::Stopped : code);
  } catch (const Failure& failure) {
    if (stop.stop_requested()) return finish(ExitCode::Stopped);
    streams.err << failure.what() << '\n';
    return finish(ExitCode::WrongInput);
  } catch (const std::bad_alloc&) {
    streams.err << "out of memory\n";
    return finish(ExitCode::RunFailed);
  } catch (const std::exception& error) {
    streams.err << error.what() << '\n';
    return finish(ExitCode::RunFailed);
  }
}

}  // namespace spanscope::cli
