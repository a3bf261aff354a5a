// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/bench_report.h"
#include "app/cli/command.h"
#include "app/cli/command_service.h"
#include "app/cli/input.h"
#include "app/cli/session_options.h"
#include "app/cli/terminal_output.h"
#include "engine/base/error.h"
#include "engine/base/output_file.h"
#include "engine/base/utf8.h"
#include "engine/experiment/probe.h"
#include "engine/experiment/studies/study.h"
#include "engine/jobs/probe.h"
#include "engine/metrics/metric_table.h"
#include "engine/policy/policies.h"
#include "engine/query/json/json.h"
#include "engine/retrieve/document_text.h"
#include "engine/trace/fidelity_metrics.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/service/job_context.h"
#include "engine/workbench/service/job_service.h"
#include "engine/workbench/speed_records.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace spanscope::cli {
namespace {

using experiment::ProbedModel;
using experiment::ProbeRow;
using experiment::ProbeSample;

constexpr double kMilliseconds = 1000;
/// Longer documents are cut, so that the probe stays short.
constexpr std::size_t kMostDocumentBytes = 2000;

struct ProbeOptions : BenchOptions {
  std::vector<std::string> documents;
  std::string question = "Summarize these documents in one sentence.";
  std::string policies;  ///< separated by commas; empty: experiment::probedPolicies()
  std::string picture;
};

/// Returns the beginning of the text of a document.
std::string documentText(const std::string& file, const Context& context) {
  const std::string bytes = readInput(file, context.streams, retrieve::kMaxDocumentBytes);
  auto read = retrieve::readUnits(inputName(file), retrieve::formatOf(file, bytes), bytes, context.stop);
  if (auto* error = std::get_if<Error>(&read)) throw Failure(std::move(*error));
  std::string text;
  for (const retrieve::DocumentUnit& unit : std::get<retrieve::DocumentText>(read).units) {
    if (text.size() > kMostDocumentBytes) break;
    text += (text.empty() ? "" : "\n\n") + unit.text;
  }
  if (trimmed(text).empty()) throw Failure({inputName(file), {}, "no text", "a document with text"});
  return std::string(beginningOf(text, kMostDocumentBytes));
}

jobs::ProbeChoice choiceOf(const ProbeOptions& options, const Context& context) {
  jobs::ProbeChoice choice;
  if (!options.policies.empty()) choice.policies = experiment::splitPolicies(options.policies);
  if (options.documents.empty()) return choice;
  std::vector<std::string> texts;
  for (const std::string& file : options.documents) texts.push_back(documentText(file, context));
  choice.asksOwn = true;
  choice.own = jobs::OwnQuery{.query = query::writeCanonical(experiment::probeQuery(texts, options.question)),
                              .name = "documents"};
  return choice;
}

// ---- output ----------------------------------------------------------------------------------

std::string nats(double value) {
  return trace::divergenceText(value);
}

std::string tableText(const std::vector<ProbeRow>& rows, const std::vector<ProbeRow>& bundled) {
  std::vector<TextTable::Column> columns{{"policy", TextTable::Align::Left},
                                         {metrics::shortHeading(metrics::get("divergence"))},
                                         {"min … max"},
                                         {"tokens that agree"},
                                         {"same answers"},
                                         {metrics::get("computed-tokens").shortName},
                                         {metrics::get("tokens-computed-again").shortName},
                                         {metrics::shortHeading(metrics::get("time-to-first-token"))},
                                         {"", TextTable::Align::Left}};
  if (!bundled.empty()) columns.push_back({"bundled model"});
  TextTable table(std::move(columns));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ProbeRow& row = rows[i];
    std::vector<std::string> cells{row.policy};
    if (row.questions == 0) {
      cells.resize(8, "–");
      cells.push_back(row.problem);
    } else {
      cells.insert(cells.end(),
                   {nats(row.meanDivergence),
                    fmt::format("{} … {}", nats(row.divergence.least()), nats(row.divergence.most())),
                    fmt::format("{} of {}", row.agreeing, row.tokens),
                    fmt::format("{} of {}", row.sameAnswers, row.questions), fixed(row.computed, 0),
                    fixed(row.recomputed, 0), fixed(row.seconds.median * kMilliseconds, 1),
                    experiment::probeLevelName(row.level())});
    }
    if (i < bundled.size())
      cells.push_back(bundled[i].questions == 0 ? "–" : nats(bundled[i].meanDivergence));
    table.addRow(std::move(cells));
  }
  return table.text();
}

std::string textOf(const jobs::Probe& probe) {
  std::string text;
  for (const std::string& sentence : probe.sentences()) text += "  " + sentence + '\n';
  text += '\n' + tableText(probe.rows(), probe.bundledRows());
  if (probe.choice.own) {
    text += "\n  Your documents alone:\n\n" + tableText(probe.rows(true), {});
  }
  return text + "\n  " + experiment::probeRules() + '\n';
}

nlohmann::ordered_json rowsJson(const std::vector<ProbeRow>& rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ProbeRow& row : rows) {
    nlohmann::ordered_json json{{"policy", row.policy}, {"questions", row.questions}};
    if (!row.problem.empty()) json["problem"] = row.problem;
    if (row.questions > 0) {
      const experiment::ShareInterval answers = experiment::wilsonInterval(
          static_cast<std::int64_t>(row.sameAnswers), static_cast<std::int64_t>(row.questions));
      json["level"] = experiment::probeLevelName(row.level());
      json["divergence_nats"] = {{"mean", row.meanDivergence},
                                 {"least", row.divergence.least()},
                                 {"median", row.divergence.median},
                                 {"most", row.divergence.most()},
                                 {"most_of_one_token", row.mostDivergence}};
      json["tokens"] = row.tokens;
      json["agreeing_tokens"] = row.agreeing;
      json["same_answers"] = row.sameAnswers;
      json["same_answers_interval_95"] = {answers.low, answers.high};
      json["prompt_tokens"] = row.promptTokens;
      json["computed_tokens"] = row.computed;
      json["recomputed_tokens"] = row.recomputed;
      json["ttft_ms"] = summaryJson(row.seconds, kMilliseconds);
    }
    list.push_back(std::move(json));
  }
  return list;
}

nlohmann::ordered_json questionsJson(const ProbedModel& model, const std::vector<std::string>& policies) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const experiment::ProbedQuestion& question : model.questions) {
    nlohmann::ordered_json samples = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < question.samples.size() && i < policies.size(); ++i) {
      const ProbeSample& sample = question.samples[i];
      if (!sample.problem.empty()) {
        samples.push_back({{"policy", policies[i]}, {"problem", sample.problem}});
        continue;
      }
      samples.push_back({{"policy", policies[i]},
                         {"answer", sample.answer},
                         {"same_answer", sample.sameAnswer},
                         {"divergence_nats", sample.divergence},
                         {"most_of_one_token", sample.mostDivergence},
                         {"tokens", sample.tokens},
                         {"agreeing_tokens", sample.agreeing},
                         {"prompt_tokens", sample.promptTokens},
                         {"computed_tokens", sample.computed},
                         {"recomputed_tokens", sample.recomputed},
                         {"ttft_ms", sample.seconds * kMilliseconds}});
    }
    list.push_back({{"question", question.name},
                    {"own_documents", question.isOwn},
                    {"full_prefill_answer", question.answer},
                    {"samples", std::move(samples)}});
  }
  return list;
}

nlohmann::ordered_json toJson(const jobs::Probe& probe) {
  nlohmann::ordered_json json;
  const std::vector<ProbeRow> rows = probe.rows();
  const std::string subject = policy::Choice().name();
  for (const ProbeRow& row : rows) {
    if (row.policy == subject && row.questions > 0) json["verdict"] = experiment::probeLevelName(row.level());
  }
  if (const std::string recommended = probe.recommended(); !recommended.empty())
    json["recommended_policy"] = recommended;
  json["trained_for_block_attention"] = probe.model.isTrained;
  json["sentences"] = probe.sentences();
  json["rules"] = experiment::probeRules();
  const auto limit = [](const experiment::ProbeLimit& each) -> nlohmann::ordered_json {
    return {{"divergence_nats", each.divergence}, {"agreement", each.agreement}};
  };
  json["limits"] = {{"safe", limit(experiment::kClose)}, {"not_safe", limit(experiment::kFar)}};
  json["answer_tokens"] = experiment::kProbeAnswerTokens;
  json["policies"] = rowsJson(rows);
  if (probe.choice.own) json["own_documents"] = rowsJson(probe.rows(true));
  if (probe.bundled)
    json["bundled_model"] = {{"model", probe.bundled->name}, {"policies", rowsJson(probe.bundledRows())}};
  json["questions"] = questionsJson(probe.model, probe.choice.policies);
  return json;
}

std::string progressText(const jobs::Probe& now, const std::optional<double>& secondsLeft) {
  if (now.samples == 0) return {};
  std::string text = fmt::format("{:.0f} %: ", 100 * now.progress());
  const ProbedModel& model = now.bundled ? *now.bundled : now.model;
  text += model.name;
  if (!model.questions.empty()) text += ", " + model.questions.back().name;
  if (secondsLeft) text += ", " + experiment::durationText({*secondsLeft, *secondsLeft}) + " left";
  return text;
}

ExitCode probe(const Context& context, const ProbeOptions& options) {
  options.session.check();
  jobs::JobInput input{.settings = options.session.settings,
                       .paces = std::make_shared<workbench::SpeedRecords>(context.streams.paceFile)};
  jobs::ProbeChoice choice = jobs::ProbeJob::completed(choiceOf(options, context), input);
  const auto model =
      std::make_shared<workbench::ModelBundle>(loadChosenModel(options.session, context.backends));
  workbench::OwnModel own = ownModel(model, options.session);
  own.loadBeside = [&](const workbench::RunSettings& settings) {
    SessionOptions session = options.session;
    session.settings = settings;
    return loadChosenModel(session, context.backends);
  };
  CommandService service(context, std::move(own));
  const auto job = std::make_shared<jobs::MeasuringJob<jobs::ProbeJob>>(std::move(choice), std::move(input));
  bool isSaid = false;
  const workbench::JobHandle handle = service.carryOut(job, [&] {
    // If standard error is no terminal, only errors and warnings are written.
    const auto estimate = job->estimate();
    if (estimate && !isSaid && estimate->seconds && context.streams.terminal != nullptr) {
      showProgress(context, "");
      *context.streams.terminal << "This takes " << experiment::durationText(*estimate->seconds) << ".\n";
      isSaid = true;
    }
    showProgress(context, progressText(*job->found(), job->secondsLeft()));
  });
  const bool isStopped = handle.state() == workbench::JobState::Stopped;
  if (!isStopped) handle.rethrow();
  const jobs::Probe& found = *job->found();
  writeReport(context, options, *model, toJson(found), textOf(found));
  if (!options.picture.empty()) {
    const OutputRules rules{
        .inputs = modelFiles(model->checkpoint), .unfinished = context.streams.unfinished, .stop = {}};
    const std::string svg = experiment::chartSvg(found.chart());
    if (const std::optional<Error> error = writeFile(options.picture, svg, rules))
      throw OutputFailure(*error);
  }
  return isStopped ? ExitCode::Stopped : ExitCode::Fine;
}

}  // namespace

void addModelProbe(CLI::App& group, Context& context) {
  const auto options = std::make_shared<ProbeOptions>();
  CLI::App* command = group.add_subcommand(
      "probe", "Measure whether block attention is safe on a model, and recommend a reuse policy");
  command->footer("Example:\n  spanq model probe SmolLM2-135M-Instruct.Q4_1.gguf --picture probe.svg\n");
  workbench::RunSettings& settings = options->session.settings;
  command->add_option("MODEL", settings.model,
                      "Hugging Face model directory or GGUF file (default: the bundled model)");
  command
      ->add_option(
          "--documents", options->documents,
          "Also measure questions over these files: text, Markdown, CSV, JSON lines or PDF. Only the "
          "first 2000 bytes of each text are used")
      ->type_name("FILE");
  command->add_option("--question", options->question, "Question about --documents")->type_name("TEXT");
  command
      ->add_option("--policies", options->policies,
                   fmt::format("Policies to measure [{}]", fmt::join(experiment::probedPolicies(), ", ")))
      ->type_name("LIST");
  command->add_option("--picture", options->picture, "Draw the result in this SVG file")->type_name("FILE");
  addSettings(*command, settings, {"chat_template", "template_variables"});
  addEngineSettings(*command, *options);
  command->add_flag("--json", options->json, "Write JSON, with every question");
  command->callback(
      [&context, options] { context.action = [&context, options] { return probe(context, *options); }; });
}

}  // namespace spanscope::cli
