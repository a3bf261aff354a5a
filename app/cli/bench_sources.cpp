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
#include "engine/trace/line_pieces.h"
#include "engine/workbench/model_bundle.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::cli {
namespace {

using experiment::AskedQuestion;
using experiment::SourceCount;
using experiment::SourceMeasure;

/// With more heads, the measure would fit only the questions that were used to choose the heads.
constexpr std::size_t kMostHeads = 4;

struct BenchSourcesOptions : BenchOptions {
  std::vector<std::int32_t> documents = {8, 20};
  std::int32_t rivals = 0;
  std::int32_t questions = 50;
  std::uint64_t seed = 1;
  std::uint64_t reportSeed = 2;
  std::string pictures;
};

/// Questions about this number of documents.
struct Asked {
  std::int32_t documents = 0;
  std::vector<AskedQuestion> chosenOn;
  std::vector<AskedQuestion> reportedOn;
};

struct Found {
  SourceMeasure measure;
  std::vector<SourceCount> chosenOn;  ///< counts by entry of Asked
  std::vector<SourceCount> reportedOn;

  std::int32_t chosenSum() const {
    std::int32_t sum = 0;
    for (const SourceCount& count : chosenOn) sum += count.both();
    return sum;
  }
};

struct Report {
  std::vector<Asked> asked;
  std::vector<Found> found;  ///< sorted; first the measure that is right for the most ranking questions
};

std::string shareText(std::int32_t found, std::int32_t right) {
  if (right == 0) return "–";
  return fmt::format("{} of {}", found, right);
}

Report reportOf(std::vector<Asked> asked) {
  Report report;
  std::vector<SourceMeasure> measures = experiment::sourceMeasures();
  std::vector<AskedQuestion> all;
  for (const Asked& part : asked) all.insert(all.end(), part.chosenOn.begin(), part.chosenOn.end());
  measures.push_back(experiment::headsMeasure(experiment::bestHeads(all, kMostHeads)));
  for (SourceMeasure& measure : measures) {
    Found& found = report.found.emplace_back();
    for (const Asked& part : asked) {
      found.chosenOn.push_back(experiment::countFound(part.chosenOn, measure.read));
      found.reportedOn.push_back(experiment::countFound(part.reportedOn, measure.read));
    }
    found.measure = std::move(measure);
  }
  std::stable_sort(report.found.begin(), report.found.end(),
                   [](const Found& a, const Found& b) { return a.chosenSum() > b.chosenSum(); });
  report.asked = std::move(asked);
  return report;
}

std::string rightText(const std::vector<AskedQuestion>& asked) {
  const SourceCount right = experiment::countRight(asked);
  const SourceCount all = experiment::countAsked(asked);
  return fmt::format("{} of {} with one needed document, {} of {} with two", right.one, all.one, right.two,
                     all.two);
}

std::string textOf(const BenchSourcesOptions& options, const Report& report) {
  std::string text = fmt::format(
      "  {} for each number of documents. Every second question needs two documents, and has {}.\n  The "
      "questions of seed {} rank the measures. The results are for the questions of seed {}. Temperature "
      "0\n\n",
      counted(options.questions, "question"), counted(options.rivals, "rival"), options.seed,
      options.reportSeed);
  for (const Asked& part : report.asked) {
    text +=
        fmt::format("  {} documents. Right answers with seed {}: {}. With seed {}: {}\n", part.documents,
                    options.seed, rightText(part.chosenOn), options.reportSeed, rightText(part.reportedOn));
  }
  std::vector<TextTable::Column> columns = {{"measure", TextTable::Align::Left}};
  for (const Asked& part : report.asked) columns.push_back({fmt::format("ranked on: {}", part.documents)});
  for (const Asked& part : report.asked) {
    columns.push_back({fmt::format("{}: one", part.documents)});
    columns.push_back({fmt::format("{}: two", part.documents)});
    columns.push_back({"both"});
    columns.push_back({"95 %"});
  }
  TextTable table(columns);
  for (const Found& found : report.found) {
    std::vector<std::string> cells = {found.measure.name};
    for (std::size_t i = 0; i < report.asked.size(); ++i) {
      const SourceCount right = experiment::countRight(report.asked[i].chosenOn);
      cells.push_back(shareText(found.chosenOn[i].both(), right.both()));
    }
    for (std::size_t i = 0; i < report.asked.size(); ++i) {
      const SourceCount right = experiment::countRight(report.asked[i].reportedOn);
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
  for (const Found& found : report.found)
    text += fmt::format("  {}: {}\n", found.measure.name, found.measure.formula);
  return text;
}

nlohmann::ordered_json toJson(const SourceCount& count) {
  return {{"one", count.one}, {"two", count.two}};
}

nlohmann::ordered_json toJson(const BenchSourcesOptions& options, const Report& report) {
  nlohmann::ordered_json head;
  head["questions"] = options.questions;
  head["rivals"] = options.rivals;
  head["chosen_on_seed"] = options.seed;
  head["reported_on_seed"] = options.reportSeed;
  for (const Asked& part : report.asked) {
    head["documents"].push_back({{"documents", part.documents},
                                 {"asked", toJson(experiment::countAsked(part.reportedOn))},
                                 {"right_chosen_on", toJson(experiment::countRight(part.chosenOn))},
                                 {"right_reported_on", toJson(experiment::countRight(part.reportedOn))}});
  }
  for (const Found& found : report.found) {
    nlohmann::ordered_json measure = {{"name", found.measure.name}, {"formula", found.measure.formula}};
    for (std::size_t i = 0; i < report.asked.size(); ++i) {
      measure["found"].push_back({{"documents", report.asked[i].documents},
                                  {"chosen_on", toJson(found.chosenOn[i])},
                                  {"reported_on", toJson(found.reportedOn[i])}});
    }
    head["measures"].push_back(std::move(measure));
  }
  return head;
}

/// A panel for each number of documents, a row for each measure.
std::string picture(const BenchSourcesOptions& options, const Report& report, const std::string& model) {
  experiment::HeatChart chart;
  chart.texts = {.title = "Answers whose documents rank on top",
                 .subtitle = fmt::format("{}, {} each, seed {}; right answers, in %", model,
                                         counted(options.questions, "question"), options.reportSeed),
                 .xLabel = "documents that are needed",
                 .yLabel = "measure"};
  chart.columns = {"one", "two", "both"};
  for (const Found& found : report.found) chart.rows.push_back(found.measure.name);
  for (std::size_t i = 0; i < report.asked.size(); ++i) {
    const SourceCount right = experiment::countRight(report.asked[i].reportedOn);
    const auto share = [](std::int32_t count, std::int32_t of) {
      return of == 0 ? std::nullopt : std::optional(experiment::shareCell(static_cast<double>(count) / of));
    };
    experiment::HeatMapPanel panel{.title = counted(report.asked[i].documents, "document"), .cells = {}};
    for (const Found& found : report.found) {
      const SourceCount count = found.reportedOn[i];
      panel.cells.push_back(
          {share(count.one, right.one), share(count.two, right.two), share(count.both(), right.both())});
    }
    chart.panels.push_back(std::move(panel));
  }
  chart.scale = experiment::shareScale();
  return experiment::chartSvg(chart);
}

void checkDocuments(const BenchSourcesOptions& options) {
  for (const std::int32_t documents : options.documents) {
    const std::int32_t least = experiment::kFewestSources + options.rivals;
    if (documents >= least) continue;
    refuseOption("--documents", std::to_string(documents),
                 fmt::format("at least {} with {}", least, counted(options.rivals, "rival")));
  }
}

ExitCode runSources(const Context& context, const BenchSourcesOptions& options) {
  if (!options.pictures.empty()) makeFolder(options.pictures);
  const auto model =
      std::make_shared<workbench::ModelBundle>(loadChosenModel(options.session, context.backends));
  workbench::ModelBundle& bundle = *model;
  checkDocuments(options);
  CommandService service(context, ownModel(model, options.session));

  std::vector<Asked> asked;
  service.measure([&](const CommandService::Tell& report) {
    experiment::AnswerSink sink;
    const std::unique_ptr<run::Session> session =
        workbench::makeSession(bundle, options.session.config(), sink);
    for (const std::int32_t documents : options.documents) {
      const auto ask = [&](std::uint64_t seed) {
        report(fmt::format("questions about {}, seed {}", counted(documents, "document"), seed));
        return experiment::askQuestions(*session, sink,
                                        {.documents = documents, .rivals = options.rivals, .seed = seed},
                                        options.questions, bundle.config.layers, context.stop);
      };
      Asked part{
          .documents = documents, .chosenOn = ask(options.seed), .reportedOn = ask(options.reportSeed)};
      asked.push_back(std::move(part));
    }
  });
  const Report report = reportOf(std::move(asked));
  writeReport(context, options, bundle, toJson(options, report), textOf(options, report));
  if (!options.pictures.empty()) {
    const OutputRules rules{.inputs = modelFiles(bundle.checkpoint),
                            .unfinished = context.streams.unfinished,
                            .stop = context.stop};
    const std::string svg = picture(options, report, bundle.name);
    const std::filesystem::path file = std::filesystem::path(options.pictures) / "sources.svg";
    if (const std::optional<Error> error = writeFile(file, svg, rules)) throw OutputFailure(*error);
  }
  return ExitCode::Fine;
}

}  // namespace

BenchAction addSourcesBench(CLI::App& command, const Context& context) {
  const auto options = std::make_shared<BenchSourcesOptions>();
  workbench::RunSettings& settings = options->session.settings;
  addSettings(command, settings, {"model", "chat_template", "template_variables"});
  addNumbers(command, "--documents", options->documents, "Documents per question",
             {experiment::kFewestSources, experiment::kMostSources});
  addNumber(
      command, "--rivals", options->rivals,
      "Number of documents that are similar to a needed document, for questions that need two documents",
      {0, experiment::kMostSources - experiment::kFewestSources});
  addNumber(command, "--questions", options->questions,
            "Questions per number of documents; every second question needs two documents", {2, 100'000});
  addSeedOption(command, options->seed, "Seed of the questions for ranking measures");
  addNumber(command, "--report-seed", options->reportSeed, "Seed of the reported questions", kAnySeed);
  command.add_option("--picture", options->pictures, "Folder for sources.svg (results by measure)")
      ->type_name("DIR");
  command.add_flag("--json", options->json, "Write JSON");
  addEngineSettings(command, *options);
  addStoreOptions(command, options->session);
  return {options, [&context, options] { return runSources(context, *options); }};
}

}  // namespace spanscope::cli
