// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/app/cli/spanq_process.h"

#include "app/cli/cli.h"
#include "tests/support/backends.h"

#include <sstream>
#include <utility>

namespace spanscope::test {

namespace {

struct Surroundings {
  bool canAsk = false;
  bool hasTerminal = false;
  std::string paceFile{};
  std::string recentModelsFile{};
};

SpanqResult runIn(const Surroundings& given, const std::vector<std::string>& arguments,
                  const std::string& input, std::stop_token stop) {
  std::vector<const char*> argv = {"spanq"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  std::istringstream in(input);
  std::ostringstream out;
  std::ostringstream err;
  const int code = cli::runCli(static_cast<int>(argv.size()), argv.data(),
                               {.in = in,
                                .out = out,
                                .err = err,
                                .terminal = given.hasTerminal ? &err : nullptr,
                                .canAsk = given.canAsk,
                                .paceFile = given.paceFile,
                                .recentModelsFile = given.recentModelsFile},
                               cpuBackends(), std::move(stop));
  return {.code = code, .out = out.str(), .err = err.str()};
}

}  // namespace

SpanqResult spanq(const std::vector<std::string>& arguments, const std::string& input, std::stop_token stop,
                  bool canAsk) {
  return runIn({.canAsk = canAsk}, arguments, input, std::move(stop));
}

SpanqResult spanqOnTerminal(const std::vector<std::string>& arguments, const std::string& paceFile) {
  return runIn({.hasTerminal = true, .paceFile = paceFile}, arguments, {}, {});
}

SpanqResult spanqWithRecentModels(const std::vector<std::string>& arguments, const std::string& file) {
  return runIn({.recentModelsFile = file}, arguments, {}, {});
}

}  // namespace spanscope::test
