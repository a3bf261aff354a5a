// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/bench_report.h"
#include "app/cli/command.h"
#include "app/cli/command_service.h"
#include "app/cli/option_values.h"
#include "app/cli/session_options.h"
#include "app/cli/terminal_output.h"
#include "engine/jobs/bench_jobs.h"
#include "engine/workbench/model_bundle.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace spanscope::cli {
namespace {

constexpr std::int32_t kMostTokens = 1'000'000;
constexpr std::int32_t kMostRepeats = 1000;

struct BenchCacheOptions : BenchOptions {
  jobs::LoadTimesChoice load;
};

nlohmann::ordered_json toJson(const experiment::LoadCase& each) {
  return {{"ms", summaryJson(each.seconds, kMilliseconds)},
          {"loading_ms", summaryJson(each.loading, kMilliseconds)},
          {"loaded_bytes", each.bytes},
          {"loaded_tokens", each.tokens}};
}

/// "12.3 ×": the time of computing, divided by the time of loading.
std::string times(const experiment::LoadCase& each, const experiment::LoadCase& computed) {
  const double factor = computed.seconds.median / std::max(each.seconds.median, 1e-9);
  return fixed(factor, 1) + " ×";
}

ExitCode runBench(const Context& context, const BenchCacheOptions& options) {
  workbench::ModelOptions model = modelOptions(options.session);
  model.session.reset();
  const auto bundle = std::make_shared<workbench::ModelBundle>(
      options.shape.empty()
          ? workbench::loadModelWeights(modelDirectory(options.session), context.backends, model)
          : workbench::makeShapeBundle(options.shape, context.backends, model));
  CommandService service(context, ownModel(bundle, options.session));
  const jobs::LoadTimesRows found =
      service.measure<jobs::LoadTimesJob>(options.load, options.session.settings);
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  TextTable table({{"tokens"},
                   {"MiB"},
                   {"computed ms"},
                   {"quartiles"},
                   {"host ms"},
                   {"faster"},
                   {"disk ms"},
                   {"faster"},
                   {"cold disk ms"},
                   {"faster"},
                   {"store ms"}});
  constexpr double kMebibyte = 1 << 20;
  bool isWorse = false;
  for (std::size_t i = 0; i < found.rows.size(); ++i) {
    const std::int32_t tokens = options.load.tokens[i];
    const experiment::LoadTimes& measured = found.rows[i];
    rows.push_back({{"tokens", tokens},
                    {"computed", toJson(measured.computed)},
                    {"host", toJson(measured.host)},
                    {"disk", toJson(measured.disk)},
                    {"cold_disk", toJson(measured.coldDisk)},
                    {"store_ms", summaryJson(measured.storing, kMilliseconds)}});
    const auto milliseconds = [](const experiment::LoadCase& each) {
      return fixed(each.seconds.median * kMilliseconds, 2);
    };
    table.addRow({std::to_string(tokens), fixed(static_cast<double>(measured.disk.bytes) / kMebibyte, 2),
                  milliseconds(measured.computed), spread(measured.computed.seconds, kMilliseconds, 2),
                  milliseconds(measured.host), times(measured.host, measured.computed),
                  milliseconds(measured.disk), times(measured.disk, measured.computed),
                  milliseconds(measured.coldDisk), times(measured.coldDisk, measured.computed),
                  fixed(measured.storing.median * kMilliseconds, 2)});
    for (const experiment::LoadCase* each : {&measured.host, &measured.disk, &measured.coldDisk})
      isWorse = isWorse || each->seconds.median > measured.computed.seconds.median;
  }
  std::string text =
      "  Time until the logits after a document are ready. The tokens are computed, or all tokens except the "
      "last are loaded. Medians of " +
      std::to_string(options.load.repeats) + "\n\n" + table.text() +
      "\n  Host: the document is loaded from host memory. Another document evicted the document.\n  Disk: "
      "the file is in the "
      "system's page cache.\n  Cold disk: Spanscope asked the system to drop the file from its page cache.\n "
      " "
      "Store: time to write the file, including the wait for the disk.\n";
  if (isWorse)
    text +=
        "  A factor below 1 means that computing is faster. Then this tier does not help for such "
        "documents.\n";
  writeReport(context, options, *bundle, {{"rows", std::move(rows)}}, text);
  return ExitCode::Fine;
}

}  // namespace

BenchAction addCacheBench(CLI::App& command, const Context& context) {
  const auto options = std::make_shared<BenchCacheOptions>();
  addSettings(command, options->session.settings, {"model"});
  addShapeOption(command, *options, "Use random weights");
  addNumbers(command, "--sizes", options->load.tokens, "Tokens per document, e.g. 128,512", {2, kMostTokens});
  addNumber(command, "-r,--repeats", options->load.repeats, "Timed runs per case", {1, kMostRepeats});
  addSeedOption(command, options->load.seed, "Seed of the token ids");
  command
      .add_option("--folder", options->load.folder,
                  "Folder on the disk to measure (default: your cache folder). A temporary store is created "
                  "in this folder")
      ->type_name("DIR");
  addSettings(command, options->session.settings,
              {"adapter", "context", "device", "exact", "arithmetic", "threads", "block_size", "kv_type"});
  command.add_flag("--json", options->json, "Write JSON, with all samples");
  return {options, [&context, options] { return runBench(context, *options); }};
}

}  // namespace spanscope::cli
