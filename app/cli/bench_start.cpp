// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/bench_report.h"
#include "app/cli/command.h"
#include "app/cli/option_values.h"
#include "app/cli/session_options.h"
#include "app/cli/terminal_output.h"
#include "engine/base/counted.h"
#include "engine/compute/backends.h"
#include "engine/experiment/speed.h"
#include "engine/experiment/statistics.h"
#include "engine/experiment/table_pass.h"
#include "engine/layout/span_table.h"
#include "engine/workbench/model_bundle.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::cli {
namespace {

constexpr std::int32_t kMostFirstTokens = 100'000;
constexpr std::int32_t kMostRounds = 1000;

struct BenchStartOptions : BenchOptions {
  std::int32_t tokens = 16;
  std::int32_t repeats = 5;
};

/// Seconds of one kind of start. The file is in the file cache of the system.
struct StartTimes {
  const char* name = "";
  bool borrows = false;
  std::vector<double> loading = {};
  std::vector<double> prompt = {};  ///< the first forward pass
  std::vector<double> both = {};
};

double secondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

layout::SpanTable promptOf(std::int32_t tokens, std::int32_t vocabularySize) {
  layout::Segment segment;
  for (std::int32_t i = 0; i < tokens; ++i) segment.tokens.push_back(i % vocabularySize);
  return {.segments = {std::move(segment)}};
}

ExitCode runBench(const Context& context, const BenchStartOptions& options) {
  const std::filesystem::path directory = modelDirectory(options.session);
  workbench::ModelOptions model = modelOptions(options.session);
  model.session.reset();
  model.stop = context.stop;
  std::vector<StartTimes> ways = {{.name = "borrowed", .borrows = true}, {.name = "owned"}};
  std::unique_ptr<workbench::ModelBundle> bundle;
  compute::MachineRates machine;
  // The first round reads the file from the disk and is not counted.
  for (std::int32_t round = 0; round <= options.repeats; ++round) {
    showProgress(context, "measuring " + std::to_string(round) + " of " + counted(options.repeats, "round"));
    for (StartTimes& way : ways) {
      bundle.reset();
      model.borrow = way.borrows;
      const auto begin = std::chrono::steady_clock::now();
      bundle = std::make_unique<workbench::ModelBundle>(
          workbench::loadModelWeights(directory, context.backends, model));
      const double loading = secondsSince(begin);
      experiment::computeTable(
          *bundle->decoder, *bundle->backend, promptOf(options.tokens, bundle->config.vocabularySize),
          [](std::int64_t, std::span<const float>) {}, context.stop);
      const double both = secondsSince(begin);
      if (round == 0) continue;
      way.loading.push_back(loading);
      way.prompt.push_back(both - loading);
      way.both.push_back(both);
    }
    experiment::keepHighest(machine, bundle->device.kind.meter(bundle->backendOptions())());
  }

  const experiment::ModelCost cost =
      experiment::costOf(bundle->config, bundle->weightElementBytes(), sizeof(float));
  const double read = cost.weightBytes / machine.bytesPerSecond;
  const double multiplied =
      (cost.layerFlops + cost.outputFlops) * options.tokens / machine.arithmetic(bundle->arithmeticRate());
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  TextTable table({{"weights", TextTable::Align::Left},
                   {"loading ms"},
                   {"first pass ms"},
                   {"together ms"},
                   {"quartiles"}});
  for (StartTimes& way : ways) {
    const experiment::Summary loading = experiment::summarize(std::move(way.loading));
    const experiment::Summary prompt = experiment::summarize(std::move(way.prompt));
    const experiment::Summary both = experiment::summarize(std::move(way.both));
    rows.push_back({{"weights", way.name},
                    {"loading_ms", summaryJson(loading, kMilliseconds)},
                    {"first_pass_ms", summaryJson(prompt, kMilliseconds)},
                    {"together_ms", summaryJson(both, kMilliseconds)}});
    table.addRow({way.name, fixed(loading.median * kMilliseconds, 1), fixed(prompt.median * kMilliseconds, 1),
                  fixed(both.median * kMilliseconds, 1), spread(both, kMilliseconds, 1)});
  }
  const std::string tokens = counted(options.tokens, "token");
  writeReport(context, options, *bundle,
              {{"tokens", options.tokens},
               {"read_once_ms", read * kMilliseconds},
               {"multiplied_ms", multiplied * kMilliseconds},
               {"rows", std::move(rows)}},
              "  from opening the files (cached by the system) to the logits of " + tokens + "; medians of " +
                  std::to_string(options.repeats) + "\n\n" + table.text() +
                  "\n  The machine reads all weights once in " + fixed(read * kMilliseconds, 1) +
                  " ms and multiplies " + tokens + " with these weights in " +
                  fixed(multiplied * kMilliseconds, 1) + " ms\n");
  return ExitCode::Fine;
}

}  // namespace

BenchAction addStartBench(CLI::App& command, const Context& context) {
  const auto options = std::make_shared<BenchStartOptions>();
  addSettings(command, options->session.settings, {"model"});
  addNumber(command, "--tokens", options->tokens, "Tokens of the first forward pass", {1, kMostFirstTokens});
  addNumber(command, "-r,--repeats", options->repeats, "Timed rounds", {1, kMostRounds});
  addSettings(command, options->session.settings,
              {"adapter", "context", "device", "exact", "arithmetic", "threads"});
  command.add_flag("--json", options->json, "Write JSON, with all samples");
  return {options, [&context, options] { return runBench(context, *options); }};
}

}  // namespace spanscope::cli
