// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/bench_report.h"

#include "app/cli/option_values.h"
#include "app/cli/terminal_output.h"
#include "engine/base/error.h"
#include "engine/model/weights.h"
#include "engine/workbench/setting_choices.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <ostream>
#include <system_error>
#include <vector>

namespace spanscope::cli {

nlohmann::ordered_json summaryJson(const experiment::Summary& summary, double factor) {
  std::vector<double> samples = summary.samples;
  for (double& sample : samples) sample *= factor;
  return {{"median", summary.median * factor},
          {"lower_quartile", summary.lower * factor},
          {"upper_quartile", summary.upper * factor},
          {"samples", samples}};
}

std::string spread(const experiment::Summary& summary, double factor, int digits) {
  return fixed(summary.lower * factor, digits) + " … " + fixed(summary.upper * factor, digits);
}

namespace {

const char* keysAndValuesOf(const workbench::ModelBundle& bundle, const SessionOptions& session) {
  return compute::nameOf(
      workbench::kvTypeOf(session.settings.kvType).value_or(bundle.device.kind.keysAndValues));
}

}  // namespace

void addEngineSettings(CLI::App& command, BenchOptions& options) {
  addSettings(
      command, options.session.settings,
      {"adapter", "context", "device", "exact", "arithmetic", "threads", "block_size", "blocks", "kv_type"});
}

void addShapeOption(CLI::App& command, BenchOptions& options, const std::string& use) {
  command
      .add_option("--shape", options.shape, use + " of this shape instead of a model: " + model::shapeNames())
      ->check(oneOf(model::shapeList()))
      ->excludes("--model");
}

void writeReport(const Context& context, const BenchOptions& options, const workbench::ModelBundle& bundle,
                 const nlohmann::ordered_json& json, const std::string& text) {
  showProgress(context, "");
  const compute::DeviceInfo device = bundle.backend->info();
  const char* const keysAndValues = keysAndValuesOf(bundle, options.session);
  std::ostream& out = context.streams.out;
  if (!options.json) {
    out << bundle.name << ", " << shortNumber(static_cast<double>(bundle.decoder->parameterCount()))
        << " parameters, keys and values in " << keysAndValues << ", " << device.name << "\n\n"
        << text;
    return;
  }
  nlohmann::ordered_json report{{"model", bundle.name},
                                {"parameters", bundle.decoder->parameterCount()},
                                {"weight_bytes_in_memory", bundle.decoder->weightBytes()},
                                {"device", device.name},
                                {"threads", device.threads},
                                {"kv_type", keysAndValues}};
  report.update(json);
  out << jsonText(report) << '\n';
}

void makeFolder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return;
  throw OutputFailure({.file = folder.string(),
                       .place = {},
                       .found = systemReport(error.value()),
                       .expected = "a folder, or a path where a folder can be created"});
}

void showProgress(const Context& context, const std::string& text) {
  if (context.streams.terminal != nullptr) *context.streams.terminal << "\r\x1b[K" << text << std::flush;
}

}  // namespace spanscope::cli
