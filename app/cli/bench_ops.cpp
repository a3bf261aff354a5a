// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/bench_report.h"
#include "app/cli/command.h"
#include "app/cli/option_values.h"
#include "app/cli/session_options.h"
#include "app/cli/terminal_output.h"
#include "engine/experiment/operations.h"
#include "engine/model/weights.h"
#include "engine/workbench/setting_choices.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <utility>

namespace spanscope::cli {
namespace {

constexpr std::int32_t kMostTokens = 1'000'000;
constexpr std::int32_t kMostRows = 65'536;
constexpr std::int32_t kMostRepeats = 100'000;
constexpr double kMicroseconds = 1e6;

struct BenchOpsOptions : BenchOptions {
  experiment::OperationOptions operations;
};

nlohmann::ordered_json toJson(const experiment::OperationResult& result) {
  return {{"operation", result.name},
          {"milliseconds", summaryJson(result.seconds, kMilliseconds)},
          {"flops_per_second", result.flopsPerSecond()},
          {"bytes_per_second", result.bytesPerSecond()},
          {"machine_flops_per_second", result.machine.flops},
          {"machine_bytes_per_second", result.machine.bytesPerSecond},
          {"bound_by", result.isBoundByArithmetic() ? "arithmetic" : "memory"},
          {"share_of_limit", result.share()}};
}

ExitCode runOps(const Context& context, const BenchOpsOptions& options) {
  std::string name = options.shape;
  model::ModelConfig config;
  if (options.shape.empty()) {
    const checkpoint::Checkpoint checkpoint = modelDirectory(options.session);
    checkpoint.requireModel();
    config = model::readConfig(checkpoint);
    name = checkpoint.name();
  } else {
    config = model::namedShape(options.shape);
  }
  const compute::ChosenDevice chosen = context.backends.choose(options.session.settings.device);
  const compute::BackendOptions device{
      .threads = options.session.settings.threads,
      .device = chosen.index,
      .exact = options.session.settings.exact,
      .arithmetic = workbench::arithmeticOf(options.session.settings.arithmetic)};
  const std::unique_ptr<compute::Backend> backend = chosen.kind.make(device);
  experiment::OperationOptions operations = options.operations;
  operations.kvType = *workbench::suited(options.session.config(), chosen.kind).kvType;

  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  TextTable table(
      {{"operation", TextTable::Align::Left}, {"µs"}, {"quartiles"}, {"rate"}, {"device limit"}, {"share"}});
  showProgress(context, "measuring");
  experiment::measureOperations(
      *backend, config, operations, chosen.kind.meter(device),
      [&](const experiment::OperationResult& result) {
        showProgress(context, "measured " + result.name);
        rows.push_back(toJson(result));
        const bool isArithmetic = result.isBoundByArithmetic();
        const char* const unit = isArithmetic ? " GFLOP/s" : " GB/s";
        constexpr double kGiga = 1e9;
        const double rate = isArithmetic ? result.flopsPerSecond() : result.bytesPerSecond();
        const double limit = isArithmetic ? result.machine.flops : result.machine.bytesPerSecond;
        table.addRow({result.name, fixed(result.seconds.median * kMicroseconds, 1),
                      spread(result.seconds, kMicroseconds, 1), fixed(rate / kGiga, 1) + unit,
                      fixed(limit / kGiga, 1) + unit, fixed(100 * result.share(), 0) + " %"});
      },
      context.stop);
  showProgress(context, "");
  if (options.json) {
    const compute::DeviceInfo info = backend->info();
    const nlohmann::ordered_json json{{"shape", name},
                                      {"device", info.name},
                                      {"threads", info.threads},
                                      {"kv_type", compute::nameOf(operations.kvType)},
                                      {"rows", std::move(rows)}};
    context.streams.out << jsonText(json) << '\n';
  } else {
    context.streams.out
        << name << ", keys and values in " << compute::nameOf(operations.kvType) << ", "
        << backend->info().name << "\n\n"
        << table.text()
        << "\n  The rate is compared with the device limit (arithmetic or memory), measured between the "
           "repeats. More than 100 %\n  of the memory limit means that the data stays in a cache.\n";
  }
  return ExitCode::Fine;
}

}  // namespace

BenchAction addOpsBench(CLI::App& command, const Context& context) {
  const auto options = std::make_shared<BenchOpsOptions>();
  addSettings(command, options->session.settings, {"model"});
  addShapeOption(command, *options, "Use the sizes");
  addNumbers(command, "--rows", options->operations.rows, "Query rows per forward pass, e.g. 1,512",
             {1, kMostRows});
  addNumbers(command, "-d,--depth", options->operations.depths,
             "Tokens of context before the rows, e.g. 0,512", {0, kMostTokens});
  addNumber(
      command, "--segment-tokens", options->operations.segmentTokens,
      "Also attend to the context in segments of N tokens, each rotated separately (0: only as one segment)",
      {0, kMostTokens});
  addNumber(command, "-r,--repeats", options->operations.repeats, "Timed samples per operation",
            {1, kMostRepeats});
  addSettings(command, options->session.settings, {"device", "exact", "arithmetic", "threads", "kv_type"});
  command.add_flag("--json", options->json, "Write JSON, with all samples");
  return {options, [&context, options] { return runOps(context, *options); }};
}

}  // namespace spanscope::cli
