// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/bench_report.h"
#include "app/cli/command.h"
#include "app/cli/option_values.h"
#include "app/cli/session_options.h"
#include "app/cli/terminal_output.h"
#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/experiment/load_times.h"
#include "engine/run/run_options.h"
#include "engine/workbench/run_options.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace spanscope::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::int32_t kMostTokens = 1'000'000;
constexpr std::int32_t kMostRepeats = 1000;

struct BenchCacheOptions : BenchOptions {
  std::string folder;
  std::vector<std::int32_t> sizes = {128, 512, 2048};
  experiment::LoadOptions load;
};

/// The folder for a temporary store: the given folder, or the parent of the default store folder.
fs::path scratchPlace(const std::string& given) {
  std::error_code error;
  if (given.empty()) return workbench::standardStoreFolder().parent_path();
  if (!fs::is_directory(given, error))
    throw Failure({given, {}, "no folder", "a folder in which blocks can be stored temporarily"});
  return given;
}

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
  run::SessionConfig config = options.session.config();
  workbench::ModelOptions model = modelOptions(options.session);
  model.session.reset();
  workbench::ModelBundle bundle =
      options.shape.empty()
          ? workbench::loadModelWeights(modelDirectory(options.session), context.backends, model)
          : workbench::makeShapeBundle(options.shape, context.backends, model);
  const auto make = [&bundle](const run::SessionConfig& wanted, trace::Sink& sink) {
    return workbench::makeSession(bundle, wanted, sink);
  };
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
  for (const std::int32_t tokens : options.sizes) {
    showProgress(context, "measuring " + counted(tokens, "token"));
    const experiment::ScratchFolder folder(scratchPlace(options.folder));
    experiment::LoadOptions load = options.load;
    load.tokens = tokens;
    load.folder = folder.path();
    const experiment::LoadTimes measured =
        experiment::measureLoadTimes(make, config, bundle.config.vocabularySize, load, context.stop);
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
  writeReport(context, options, bundle, {{"rows", std::move(rows)}}, text);
  return ExitCode::Fine;
}

}  // namespace

BenchAction addCacheBench(CLI::App& command, const Context& context) {
  const auto options = std::make_shared<BenchCacheOptions>();
  addSettings(command, options->session.settings, {"model"});
  addShapeOption(command, *options, "Use random weights");
  addNumbers(command, "--sizes", options->sizes, "Tokens per document, e.g. 128,512", {2, kMostTokens});
  addNumber(command, "-r,--repeats", options->load.repeats, "Timed runs per case", {1, kMostRepeats});
  addSeedOption(command, options->load.seed, "Seed of the token ids");
  command
      .add_option("--folder", options->folder,
                  "Folder on the disk to measure (default: your cache folder). A temporary store is created "
                  "in this folder")
      ->type_name("DIR");
  addSettings(command, options->session.settings,
              {"adapter", "context", "device", "exact", "arithmetic", "threads", "block_size", "kv_type"});
  command.add_flag("--json", options->json, "Write JSON, with all samples");
  return {options, [&context, options] { return runBench(context, *options); }};
}

}  // namespace spanscope::cli
