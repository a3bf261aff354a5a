// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/bench_report.h"
#include "app/cli/command.h"
#include "app/cli/command_service.h"
#include "app/cli/layout_lines.h"
#include "app/cli/option_values.h"
#include "app/cli/query_inputs.h"
#include "app/cli/session_options.h"
#include "app/cli/terminal_output.h"
#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/output_file.h"
#include "engine/experiment/chart.h"
#include "engine/experiment/needle.h"
#include "engine/jobs/bench_jobs.h"
#include "engine/policy/policies.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/setting_choices.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::cli {
namespace {

using experiment::groupName;
using experiment::MissCause;
using experiment::NeedleRow;

struct BenchNeedleOptions : BenchOptions {
  experiment::NeedleOptions needle;
  std::string pictures;
  bool misses = false;
};

constexpr std::array kCauses = {MissCause::Missed, MissCause::LostCombining, MissCause::AnswerTruncated,
                                MissCause::NotRun};

/// The rows of one experiment, and values computed from several rows.
struct Report {
  const BenchNeedleOptions& options;
  std::vector<NeedleRow> rows;  ///< sorted by length of the filler text, then by k
  std::int64_t context = 0;     ///< max tokens of the model

  std::int64_t needles() const {
    return static_cast<std::int64_t>(options.needle.documents) * options.needle.trials;
  }
  std::int32_t goodCount() const {
    return static_cast<std::int32_t>(
        std::ceil(options.needle.goodShare * static_cast<double>(options.needle.documents) - 1e-9));
  }
  std::vector<const NeedleRow*> rowsOf(std::int32_t portion) const {
    std::vector<const NeedleRow*> found;
    for (const NeedleRow& row : rows) {
      if (row.portion == portion) found.push_back(&row);
    }
    return found;
  }
};

std::string tableText(const Report& report) {
  TextTable table({{"filler words"},
                   {"read", TextTable::Align::Left},
                   {"longest prompt"},
                   {"good runs"},
                   {"95 %"},
                   {"names found"},
                   {"missed"},
                   {"lost combining"},
                   {"answer truncated"},
                   {"not run"},
                   {"invented"},
                   {"run ms"},
                   {"quartiles"}});
  for (const NeedleRow& row : report.rows) {
    const experiment::ShareInterval range = experiment::wilsonInterval(row.good, row.trials);
    const bool timed = !row.seconds.samples.empty();
    table.addRow({std::to_string(row.hayWords), groupName(row.portion), std::to_string(row.longestPrompt),
                  fmt::format("{} of {}", row.good, row.trials),
                  fmt::format("{:.2f} … {:.2f}", range.low, range.high),
                  fmt::format("{} of {}", row.found, report.needles()),
                  std::to_string(row.missesBy(MissCause::Missed)),
                  std::to_string(row.missesBy(MissCause::LostCombining)),
                  std::to_string(row.missesBy(MissCause::AnswerTruncated)),
                  std::to_string(row.missesBy(MissCause::NotRun)), std::to_string(row.invented),
                  timed ? fixed(row.seconds.median * kMilliseconds, 1) : "–",
                  timed ? spread(row.seconds, kMilliseconds, 1) : ""});
  }
  return table.text();
}

std::string missesText(const Report& report) {
  TextTable table({{"filler words"},
                   {"read", TextTable::Align::Left},
                   {"trial"},
                   {"document"},
                   {"name", TextTable::Align::Left},
                   {"cause", TextTable::Align::Left}});
  for (const NeedleRow& row : report.rows) {
    for (const experiment::NeedleMiss& miss : row.misses) {
      table.addRow({std::to_string(row.hayWords), groupName(row.portion), std::to_string(miss.trial),
                    std::to_string(miss.document + 1), miss.name, experiment::missCauseName(miss.cause)});
    }
  }
  return table.text();
}

std::string textOf(const Report& report) {
  const experiment::NeedleOptions& needle = report.options.needle;
  std::string text =
      fmt::format(
          "  {} documents. Each has the name of a cat in filler text. {} per row, seed {}, policy {}{}, "
          "temperature 0.\n  A good run finds at least {} of {} names, and at least {:.0f} % of "
          "its names are right.\n  Times are medians of whole runs with an empty cache.\n\n",
          needle.documents, counted(needle.trials, "trial"), needle.seed, needle.policy.name(),
          layoutWords(needle.layout), report.goodCount(), needle.documents, needle.goodShare * 100) +
      tableText(report);
  std::int64_t longest = 0;
  for (const NeedleRow& row : report.rows) longest = std::max(longest, row.longestPrompt);
  text += fmt::format(/*id:no-prompt-truncated*/
                      "\n  No prompt was truncated: the longest prompt has {} tokens. The context has {} "
                      "tokens.\n",
                      longest, report.context);
  for (const NeedleRow& row : report.rows) {
    if (!row.firstFailure) continue;
    text += /*id:not-run-hay*/ "  not run, with filler text of " + counted(row.hayWords, "word") + ", " +
            groupName(row.portion) + ": " + *row.firstFailure + '\n';
  }
  if (report.options.misses) text += '\n' + missesText(report);
  return text;
}

nlohmann::ordered_json toJson(const NeedleRow& row) {
  nlohmann::ordered_json misses = nlohmann::ordered_json::array();
  for (const experiment::NeedleMiss& miss : row.misses) {
    misses.push_back({{"trial", miss.trial},
                      {"document", miss.document},
                      {"name", miss.name},
                      {"cause", experiment::missCauseName(miss.cause)}});
  }
  nlohmann::ordered_json causes;
  for (const MissCause cause : kCauses) causes[experiment::missCauseName(cause)] = row.missesBy(cause);
  const experiment::ShareInterval range = experiment::wilsonInterval(row.good, row.trials);
  nlohmann::ordered_json json;
  json["hay_words"] = row.hayWords;
  json["k"] = row.portion == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(row.portion);
  json["trials"] = row.trials;
  json["good_runs"] = row.good;
  json["good_interval_95"] = {range.low, range.high};
  json["names_found"] = row.found;
  json["names_invented"] = row.invented;
  json["found_by_document"] = row.foundAt;
  json["longest_prompt_tokens"] = row.longestPrompt;
  json["run_ms"] = summaryJson(row.seconds, kMilliseconds);
  json["misses_by_cause"] = std::move(causes);
  json["misses"] = std::move(misses);
  if (row.firstFailure) json["first_failure"] = *row.firstFailure;
  return json;
}

nlohmann::ordered_json toJson(const Report& report) {
  const experiment::NeedleOptions& needle = report.options.needle;
  nlohmann::ordered_json head;
  head["policy"] = needle.policy.name();
  head["layout"] = layout::infoOf(needle.layout).name;
  head["documents"] = needle.documents;
  head["good_share"] = needle.goodShare;
  head["seed"] = needle.seed;
  head["context_tokens"] = report.context;
  head["rows"] = nlohmann::ordered_json::array();
  for (const NeedleRow& row : report.rows) head["rows"].push_back(toJson(row));
  return head;
}

std::string underTitle(const Report& report, const std::string& model) {
  const experiment::NeedleOptions& needle = report.options.needle;
  return fmt::format("{}, policy {}{}, {} documents, {} a point, seed {}", model, needle.policy.name(),
                     layoutWords(needle.layout), needle.documents, counted(needle.trials, "trial"),
                     needle.seed);
}

/// Attention locality over the length of the filler text, as in figure 17 of the paper.
std::string localityPicture(const Report& report, const std::string& model) {
  experiment::LineChart chart;
  chart.texts = {.title = "Attention locality: runs that find the names",
                 .subtitle = underTitle(report, model) + "; bars: 95 % interval",
                 .xLabel = "filler text, words in each document",
                 .yLabel = fmt::format("good runs: {} of {} names or more", report.goodCount(),
                                       report.options.needle.documents)};
  std::vector<double> places;
  for (const std::int32_t portion : report.options.needle.portions) {
    experiment::ChartSeries series{.name = groupName(portion), .points = {}};
    for (const NeedleRow* row : report.rowsOf(portion)) {
      const experiment::ShareInterval range = experiment::wilsonInterval(row->good, row->trials);
      series.points.push_back({.x = static_cast<double>(row->hayWords),
                               .number = {.value = static_cast<double>(row->good) / row->trials,
                                          .low = range.low,
                                          .high = range.high,
                                          .samples = static_cast<std::size_t>(row->trials)}});
      places.push_back(static_cast<double>(row->hayWords));
    }
    chart.series.push_back(std::move(series));
  }
  const double most = places.empty() ? 1 : std::max(1.0, *std::max_element(places.begin(), places.end()));
  chart.x = experiment::placesAxis(std::move(places), false);
  chart.x.high = most;
  chart.y = experiment::shareAxis();
  return experiment::chartSvg(chart);
}

/// Depth of the needle over the length, as in pictures of needle-in-a-haystack tests.
std::string depthPicture(const Report& report, const std::string& model) {
  const std::int32_t documents = report.options.needle.documents;
  experiment::HeatChart chart;
  chart.texts = {.title = "Names found, by depth and length",
                 .subtitle = underTitle(report, model) + "; numbers in %",
                 .xLabel = "filler text, words in each document",
                 .yLabel = "depth of the document"};
  for (std::int32_t i = 0; i < documents; ++i) {
    chart.rows.push_back(fmt::format("{:.0f} %", 100.0 * i / (documents - 1)));
  }
  for (const std::int32_t words : report.options.needle.hayWords)
    chart.columns.push_back(std::to_string(words));
  for (const std::int32_t portion : report.options.needle.portions) {
    experiment::HeatMapPanel panel{.title = groupName(portion), .cells = {}};
    for (std::size_t document = 0; document < static_cast<std::size_t>(documents); ++document) {
      std::vector<std::optional<experiment::HeatMapCell>>& cells = panel.cells.emplace_back();
      for (const NeedleRow* row : report.rowsOf(portion)) {
        const bool hasRun = !row->seconds.samples.empty();
        cells.push_back(hasRun ? std::optional(experiment::shareCell(
                                     static_cast<double>(row->foundAt[document]) / row->trials))
                               : std::nullopt);
      }
    }
    chart.panels.push_back(std::move(panel));
  }
  chart.scale = experiment::shareScale();
  return experiment::chartSvg(chart);
}

void writePicture(const std::filesystem::path& file, const std::string& svg, const OutputRules& rules) {
  if (const std::optional<Error> error = writeFile(file, svg, rules)) throw OutputFailure(*error);
}

ExitCode runNeedle(const Context& context, BenchNeedleOptions options) {
  if (!options.pictures.empty()) makeFolder(options.pictures);
  options.needle.policy = workbench::policyOf(options.session.settings.policy);
  options.needle.layout = workbench::layoutOf(options.session.settings.layout);
  const auto model =
      std::make_shared<workbench::ModelBundle>(loadChosenModel(options.session, context.backends));
  const workbench::ModelBundle& bundle = *model;
  CommandService service(context, ownModel(model, options.session));
  const Report report{.options = options,
                      .rows = service.measure<jobs::NeedleJob>(options.needle, options.session.settings).rows,
                      .context = bundle.config.maxPositions};
  writeReport(context, options, bundle, toJson(report), textOf(report));
  if (!options.pictures.empty()) {
    const std::filesystem::path folder(options.pictures);
    const OutputRules rules{.inputs = modelFiles(bundle.checkpoint),
                            .unfinished = context.streams.unfinished,
                            .stop = context.stop};
    writePicture(folder / "needle-locality.svg", localityPicture(report, bundle.name), rules);
    writePicture(folder / "needle-depth.svg", depthPicture(report, bundle.name), rules);
  }
  return ExitCode::Fine;
}

}  // namespace

BenchAction addNeedleBench(CLI::App& command, const Context& context) {
  const auto options = std::make_shared<BenchNeedleOptions>();
  experiment::NeedleOptions& needle = options->needle;
  workbench::RunSettings& settings = options->session.settings;
  addSettings(command, settings, {"model", "chat_template", "template_variables"});
  addNumber(command, "--documents", needle.documents, "Number of documents, each with one name",
            {2, experiment::kMostNeedles});
  addNumbers(command, "--hay", needle.hayWords, "Words of filler text per document, in whole sentences",
             {0, 100'000});
  addNumbers(command, "-k,--portions", needle.portions,
             "Documents per group; the lists of the groups are combined. 0: all documents together",
             {.least = 2, .most = experiment::kMostNeedles, .orZero = true});
  addNumber(command, "--trials", needle.trials, "Runs per row, each with other names and filler text",
            {1, 100'000});
  addNumber(command, "--good", needle.goodShare, "Min recall and precision of a good run", {0.0, 1.0});
  addSettings(command, settings, {"policy", "prompt_layout"});
  addSeedOption(command, needle.seed, "Seed of names and filler text");
  command
      .add_option(
          "--picture", options->pictures,
          "Folder for needle-locality.svg (good runs by length) and needle-depth.svg (depth by length)")
      ->type_name("DIR");
  command.add_flag("--misses", options->misses, "List every missing name with the cause");
  command.add_flag("--json", options->json, "Write JSON, with every miss and all samples");
  addEngineSettings(command, *options);
  return {options, [&context, options] { return runNeedle(context, *options); },
          [options, &command] { useUsualPolicy(command, options->session.settings); }};
}

}  // namespace spanscope::cli
