// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/bench_report.h"
#include "app/cli/command.h"
#include "app/cli/command_service.h"
#include "app/cli/option_values.h"
#include "app/cli/session_options.h"
#include "app/cli/terminal_output.h"
#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/output_file.h"
#include "engine/experiment/chart.h"
#include "engine/experiment/sources.h"
#include "engine/jobs/bench_jobs.h"
#include "engine/trace/line_pieces.h"
#include "engine/workbench/model_bundle.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::cli {
namespace {

using experiment::SourceCount;
using jobs::SourceFound;
using jobs::SourcesChoice;
using jobs::SourcesRow;
using jobs::SourcesRows;

struct BenchSourcesOptions : BenchOptions {
  SourcesChoice sources;
  std::string pictures;
};

std::string shareText(std::int32_t found, std::int32_t right) {
  if (right == 0) return "–";
  return fmt::format("{} of {}", found, right);
}

std::string rightText(const jobs::SourceTally& tally) {
  return fmt::format("{} of {} with one needed document, {} of {} with two", tally.right.one, tally.asked.one,
                     tally.right.two, tally.asked.two);
}

std::string textOf(const SourcesRows& report) {
  const SourcesChoice& choice = report.choice;
  std::string text = fmt::format(
      "  {} for each number of documents. Every second question needs two documents, and has {}.\n  The "
      "questions of seed {} rank the measures. The results are for the questions of seed {}. Temperature "
      "0\n\n",
      counted(choice.questions, "question"), counted(choice.rivals, "rival"), choice.seed, choice.reportSeed);
  for (const SourcesRow& part : report.rows) {
    text += fmt::format("  {} documents. Right answers with seed {}: {}. With seed {}: {}\n", part.documents,
                        choice.seed, rightText(part.chosenOn), choice.reportSeed, rightText(part.reportedOn));
  }
  std::vector<TextTable::Column> columns = {{"measure", TextTable::Align::Left}};
  for (const SourcesRow& part : report.rows)
    columns.push_back({fmt::format("ranked on: {}", part.documents)});
  for (const SourcesRow& part : report.rows) {
    columns.push_back({fmt::format("{}: one", part.documents)});
    columns.push_back({fmt::format("{}: two", part.documents)});
    columns.push_back({"both"});
    columns.push_back({"95 %"});
  }
  TextTable table(columns);
  for (const SourceFound& found : report.found) {
    std::vector<std::string> cells = {found.name};
    for (std::size_t i = 0; i < report.rows.size(); ++i) {
      const SourceCount right = report.rows[i].chosenOn.right;
      cells.push_back(shareText(found.chosenOn[i].both(), right.both()));
    }
    for (std::size_t i = 0; i < report.rows.size(); ++i) {
      const SourceCount right = report.rows[i].reportedOn.right;
      const SourceCount count = found.reportedOn[i];
      const experiment::ShareInterval range = experiment::wilsonInterval(count.both(), right.both());
      cells.push_back(shareText(count.one, right.one));
      cells.push_back(shareText(count.two, right.two));
      cells.push_back(right.both() == 0 ? "–" : trace::shareNumber(1.0 * count.both() / right.both()) + " %");
      cells.push_back(fmt::format("{:.2f} … {:.2f}", range.low, range.high));
    }
    table.addRow(std::move(cells));
  }
  text += /*id:right-answers-whose*/ "\n  Right answers whose needed documents rank above all others:\n\n" +
          table.text() + '\n';
  for (const SourceFound& found : report.found) text += fmt::format("  {}: {}\n", found.name, found.formula);
  return text;
}

nlohmann::ordered_json toJson(const SourceCount& count) {
  return {{"one", count.one}, {"two", count.two}};
}

nlohmann::ordered_json toJson(const SourcesRows& report) {
  nlohmann::ordered_json head;
  head["questions"] = report.choice.questions;
  head["rivals"] = report.choice.rivals;
  head["chosen_on_seed"] = report.choice.seed;
  head["reported_on_seed"] = report.choice.reportSeed;
  for (const SourcesRow& part : report.rows) {
    head["documents"].push_back({{"documents", part.documents},
                                 {"asked", toJson(part.reportedOn.asked)},
                                 {"right_chosen_on", toJson(part.chosenOn.right)},
                                 {"right_reported_on", toJson(part.reportedOn.right)}});
  }
  for (const SourceFound& found : report.found) {
    nlohmann::ordered_json measure = {{"name", found.name}, {"formula", found.formula}};
    for (std::size_t i = 0; i < report.rows.size(); ++i) {
      measure["found"].push_back({{"documents", report.rows[i].documents},
                                  {"chosen_on", toJson(found.chosenOn[i])},
                                  {"reported_on", toJson(found.reportedOn[i])}});
    }
    head["measures"].push_back(std::move(measure));
  }
  return head;
}

/// A panel for each number of documents, a row for each measure.
std::string picture(const SourcesRows& report, const std::string& model) {
  experiment::HeatChart chart;
  chart.texts = {
      .title = "Answers whose documents rank on top",
      .subtitle = fmt::format("{}, {} each, seed {}; right answers, in %", model,
                              counted(report.choice.questions, "question"), report.choice.reportSeed),
      .xLabel = "documents that are needed",
      .yLabel = "measure"};
  chart.columns = {"one", "two", "both"};
  for (const SourceFound& found : report.found) chart.rows.push_back(found.name);
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const SourceCount right = report.rows[i].reportedOn.right;
    const auto share = [](std::int32_t count, std::int32_t of) {
      return of == 0 ? std::nullopt : std::optional(experiment::shareCell(static_cast<double>(count) / of));
    };
    experiment::HeatMapPanel panel{.title = counted(report.rows[i].documents, "document"), .cells = {}};
    for (const SourceFound& found : report.found) {
      const SourceCount count = found.reportedOn[i];
      panel.cells.push_back(
          {share(count.one, right.one), share(count.two, right.two), share(count.both(), right.both())});
    }
    chart.panels.push_back(std::move(panel));
  }
  chart.scale = experiment::shareScale();
  return experiment::chartSvg(chart);
}

void checkDocuments(const SourcesChoice& choice) {
  for (const std::int32_t documents : choice.documents) {
    const std::int32_t least = experiment::kFewestSources + choice.rivals;
    if (documents >= least) continue;
    refuseOption("--documents", std::to_string(documents),
                 fmt::format("at least {} with {}", least, counted(choice.rivals, "rival")));
  }
}

ExitCode runSources(const Context& context, const BenchSourcesOptions& options) {
  if (!options.pictures.empty()) makeFolder(options.pictures);
  const auto model =
      std::make_shared<workbench::ModelBundle>(loadChosenModel(options.session, context.backends));
  const workbench::ModelBundle& bundle = *model;
  checkDocuments(options.sources);
  CommandService service(context, ownModel(model, options.session));
  const SourcesRows report = service.measure<jobs::SourcesJob>(options.sources, options.session.settings);
  writeReport(context, options, bundle, toJson(report), textOf(report));
  if (!options.pictures.empty()) {
    const OutputRules rules{.inputs = modelFiles(bundle.checkpoint),
                            .unfinished = context.streams.unfinished,
                            .stop = context.stop};
    const std::string svg = picture(report, bundle.name);
    const std::filesystem::path file = std::filesystem::path(options.pictures) / "sources.svg";
    if (const std::optional<Error> error = writeFile(file, svg, rules)) throw OutputFailure(*error);
  }
  return ExitCode::Fine;
}

}  // namespace

BenchAction addSourcesBench(CLI::App& command, const Context& context) {
  const auto options = std::make_shared<BenchSourcesOptions>();
  SourcesChoice& sources = options->sources;
  workbench::RunSettings& settings = options->session.settings;
  addSettings(command, settings, {"model", "chat_template", "template_variables"});
  addNumbers(command, "--documents", sources.documents, "Documents per question",
             {experiment::kFewestSources, experiment::kMostSources});
  addNumber(
      command, "--rivals", sources.rivals,
      "Number of documents that are similar to a needed document, for questions that need two documents",
      {0, experiment::kMostSources - experiment::kFewestSources});
  addNumber(command, "--questions", sources.questions,
            "Questions per number of documents; every second question needs two documents", {2, 100'000});
  addSeedOption(command, sources.seed, "Seed of the questions for ranking measures");
  addNumber(command, "--report-seed", sources.reportSeed, "Seed of the reported questions", kAnySeed);
  command.add_option("--picture", options->pictures, "Folder for sources.svg (results by measure)")
      ->type_name("DIR");
  command.add_flag("--json", options->json, "Write JSON");
  addEngineSettings(command, *options);
  addStoreOptions(command, options->session);
  return {options, [&context, options] { return runSources(context, *options); }};
}

}  // namespace spanscope::cli
