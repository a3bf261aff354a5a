// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/bench_report.h"
#include "app/cli/command.h"
#include "app/cli/command_service.h"
#include "app/cli/diagnostics.h"
#include "app/cli/input.h"
#include "app/cli/layout_lines.h"
#include "app/cli/option_values.h"
#include "app/cli/query_inputs.h"
#include "app/cli/query_options.h"
#include "app/cli/session_options.h"
#include "app/cli/terminal_output.h"
#include "engine/base/counted.h"
#include "engine/experiment/repeat_run.h"
#include "engine/jobs/benchmark.h"
#include "engine/metrics/metric_table.h"
#include "engine/policy/policies.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/setting_choices.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::cli {
namespace {

using experiment::CaseGap;
using experiment::CaseSummary;
using experiment::RunCase;

constexpr std::int32_t kMostRepeats = 100'000;

struct BenchRunOptions : BenchOptions {
  std::string file;
  QueryOptionTexts query;
  std::int32_t repeats = experiment::RepeatOptions{}.repeats;
};

std::string nameOf(RunCase runCase) {
  std::string name = experiment::runCaseName(runCase);
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::string reasonOf(CaseGap gap) {
  switch (gap) {
    case CaseGap::None:
      break;
    case CaseGap::NoPlus:
      return /*id:no-plus-stands*/ "the query has no plus";
    case CaseGap::NothingToSwap:
      return "no plus has two children";
    case CaseGap::NothingLeft:
      return "without the children of plus, the query has nothing to run";
  }
  return {};
}

const CaseSummary* find(const std::vector<CaseSummary>& summaries, RunCase runCase) {
  const auto found = std::find_if(summaries.begin(), summaries.end(), [runCase](const CaseSummary& summary) {
    return summary.runCase == runCase;
  });
  return found == summaries.end() ? nullptr : &*found;
}

std::string millisecondsText(const experiment::Summary& seconds) {
  return fmt::format("{:.2f} … {:.2f}", seconds.least() * kMilliseconds, seconds.most() * kMilliseconds);
}

std::string countText(const experiment::CountSpan& count) {
  return count.least == count.most ? std::to_string(count.least)
                                   : fmt::format("{} … {}", count.least, count.most);
}

std::string standingText(const experiment::Comparison& comparison) {
  using experiment::Standing;
  switch (comparison.standing) {
    case Standing::Faster:
    case Standing::Slower:
      return fmt::format("{:.1f}", comparison.factor);
    case Standing::Unclear:
      return "overlaps";
    case Standing::TooFew:
      break;
  }
  return "–";
}

std::string tableText(const std::vector<CaseSummary>& summaries) {
  const CaseSummary& cold = summaries.front();
  // With one step, the time of the step is the time of the run.
  const bool hasSteps = std::any_of(summaries.begin(), summaries.end(), [](const CaseSummary& each) {
    return each.firstToken.samples != each.lastFirstToken.samples;
  });
  std::vector<TextTable::Column> columns = {{"case", TextTable::Align::Left},
                                            {metrics::shortHeading(metrics::get("time-to-first-token"))},
                                            {"min … max"},
                                            {"cold/this"}};
  if (hasSteps) columns.push_back({"last step"});
  columns.push_back({"run ms"});
  columns.push_back({"min … max"});
  for (const char* const id : {"prompt-tokens", "cached-tokens", "relocated-tokens", "computed-tokens"})
    columns.push_back({metrics::get(id).shortName});
  columns.push_back({"blocks"});
  TextTable table(columns);
  for (const CaseSummary& each : summaries) {
    std::vector<std::string> cells = {
        nameOf(each.runCase), fixed(each.firstToken.median * kMilliseconds, 2),
        millisecondsText(each.firstToken),
        &each == &cold ? "1.0" : standingText(experiment::compareTimes(cold.firstToken, each.firstToken))};
    if (hasSteps) cells.push_back(fixed(each.lastFirstToken.median * kMilliseconds, 2));
    cells.push_back(fixed(each.whole.median * kMilliseconds, 2));
    cells.push_back(millisecondsText(each.whole));
    for (const experiment::CountSpan* count : {&each.prompt, &each.cached, &each.relocated, &each.computed})
      cells.push_back(countText(*count));
    cells.push_back(std::to_string(each.peakBlocks));
    table.addRow(std::move(cells));
  }
  return table.text();
}

std::string answersText(const std::vector<CaseSummary>& summaries) {
  std::string text;
  for (const CaseSummary& each : summaries) {
    if (each.otherAnswers == 0 || each.runCase == RunCase::Floor) continue;
    text += fmt::format("  {}: a different answer from the first cold run in {} of {} runs\n",
                        nameOf(each.runCase), each.otherAnswers, each.samples);
  }
  if (!text.empty()) return text;
  const bool hasFloor = find(summaries, RunCase::Floor) != nullptr;
  return hasFloor ? "  all runs except the floor runs gave the same answer\n"
                  : "  all runs gave the same answer\n";
}

std::string textOf(const BenchRunOptions& options, const jobs::Benchmark& report) {
  const std::vector<CaseSummary> summaries = experiment::summarizeTurns(report.turns);
  std::string text = fmt::format("  {}: {} of each case after one warm-up run, policy {}{}; medians\n\n",
                                 inputName(options.file), counted(report.turns.size(), "run"),
                                 workbench::runOptionsOf(options.session.settings).policy.name(),
                                 layoutWords(workbench::layoutOf(options.session.settings.layout)));
  if (summaries.empty()) return text + "  the benchmark stopped before the first repeat ended\n";
  text += tableText(summaries) + '\n';
  for (std::size_t i = 0; i < report.gaps.size(); ++i) {
    if (report.gaps[i] != CaseGap::None)
      text += fmt::format("  no {}: {}\n", nameOf(experiment::kRunCases[i]), reasonOf(report.gaps[i]));
  }
  return text + answersText(summaries);
}

nlohmann::ordered_json spanJson(const experiment::CountSpan& span) {
  return {{"least", span.least}, {"most", span.most}};
}

nlohmann::ordered_json caseJson(const CaseSummary& each, const CaseSummary& cold) {
  using experiment::Standing;
  nlohmann::ordered_json json = {{"case", experiment::runCaseName(each.runCase)},
                                 {"ttft_ms", summaryJson(each.firstToken, kMilliseconds)},
                                 {"last_step_ttft_ms", summaryJson(each.lastFirstToken, kMilliseconds)},
                                 {"run_ms", summaryJson(each.whole, kMilliseconds)},
                                 {"prompt_tokens", spanJson(each.prompt)},
                                 {"cached_tokens", spanJson(each.cached)},
                                 {"relocated_tokens", spanJson(each.relocated)},
                                 {"computed_tokens", spanJson(each.computed)},
                                 {"peak_blocks", each.peakBlocks},
                                 {"answer", each.answer},
                                 {"other_answers", each.otherAnswers}};
  if (&each == &cold) return json;
  const experiment::Comparison comparison = experiment::compareTimes(cold.firstToken, each.firstToken);
  json["cold_to_this"] = comparison.factor;
  json["spreads_overlap"] = comparison.standing == Standing::Unclear;
  return json;
}

nlohmann::ordered_json toJson(const BenchRunOptions& options, const jobs::Benchmark& report) {
  const std::vector<CaseSummary> summaries = experiment::summarizeTurns(report.turns);
  nlohmann::ordered_json head;
  head["file"] = options.file;
  head["policy"] = workbench::runOptionsOf(options.session.settings).policy.name();
  head["layout"] = options.session.settings.layout;
  head["seed"] = options.query.settings.seed;
  head["block_size"] = options.session.config().blockSize;
  head["blocks"] = options.session.config().blockCount;
  head["turns"] = report.turns.size();
  head["cases"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < report.gaps.size(); ++i) {
    const RunCase runCase = experiment::kRunCases[i];
    if (const CaseSummary* summary = find(summaries, runCase)) {
      head["cases"].push_back(caseJson(*summary, summaries.front()));
    } else if (report.gaps[i] != CaseGap::None) {
      head["cases"].push_back(
          {{"case", experiment::runCaseName(runCase)}, {"left_out", reasonOf(report.gaps[i])}});
    }
  }
  return head;
}

std::string progressText(const jobs::Benchmark& now) {
  if (now.gaps.empty()) return {};
  const std::string name = nameOf(now.runCase);
  return now.turn == 0 ? fmt::format("warming up: {}", name)
                       : fmt::format("turn {} of {}: {}", now.turn, now.choice.repeats, name);
}

ExitCode runRepeats(const Context& context, const BenchRunOptions& options) {
  QueryOptions given = queryOptions(options.query);
  retrieveWith(given, options.query, context, options.session.settings.model, modelOptions(options.session));
  const auto planned = planFile(options.file, given, context.streams);
  warnOfUnused(given, context.streams);
  if (!planned) return ExitCode::WrongInput;

  // Errors of the query are reported before a model is loaded.
  experiment::planCases(planned->query(), given.plan);
  std::shared_ptr<workbench::ModelBundle> model = given.retriever->model();
  if (model == nullptr) {
    model = std::make_shared<workbench::ModelBundle>(loadChosenModel(options.session, context.backends));
  }
  warnOfOtherModels(context.streams.err, inputName(options.file), planned->plan(), model->name);
  CommandService service(context, ownModel(model, options.session));
  workbench::RunSettings settings = options.session.settings;
  settings.seed = options.query.settings.seed;
  const auto job = std::make_shared<jobs::MeasuringJob<jobs::BenchmarkJob>>(
      jobs::BenchmarkChoice{.kind = jobs::BenchmarkKind::Query, .repeats = options.repeats},
      jobs::JobInput{.settings = settings, .plan = given.plan, .query = planned->query(), .usesTiers = true});
  const workbench::JobHandle handle = service.carryOut(job, [&] {
    if (const std::string now = progressText(*job->found()); !now.empty()) showProgress(context, now);
  });
  handle.rethrow();
  const jobs::Benchmark& report = *job->found();
  writeReport(context, options, *model, toJson(options, report), textOf(options, report));
  return handle.state() == workbench::JobState::Stopped ? ExitCode::Stopped : ExitCode::Fine;
}

}  // namespace

BenchAction addRunBench(CLI::App& command, const Context& context) {
  const auto options = std::make_shared<BenchRunOptions>();
  command.add_option("FILE", options->file, kQueryFileHelp)->required();
  workbench::RunSettings& settings = options->session.settings;
  addSettings(command, settings, {"model", "chat_template", "template_variables"});
  addSettings(command, settings, {"policy", "prompt_layout"});
  addPlanOptions(command, options->query);
  addSettings(command, settings, {"max_tokens"});
  addNumber(command, "--repeats", options->repeats, "Measured runs per case", {1, kMostRepeats});
  addEngineSettings(command, *options);
  addStoreOptions(command, options->session);
  command.add_flag("--json", options->json, "Write JSON, with all samples");
  return {options, [&context, options] { return runRepeats(context, *options); },
          [options, &command] {
            useUsualPolicy(command, options->session.settings);
            options->query.check();
          }};
}

}  // namespace spanscope::cli
