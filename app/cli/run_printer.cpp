// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/run_printer.h"

#include "app/cli/bench_report.h"
#include "app/cli/terminal_output.h"
#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/remote/chat/remote_run.h"
#include "engine/trace/event_fields.h"
#include "engine/trace/fidelity_metrics.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <utility>

namespace spanscope::cli {

namespace {

const char* outcomeName(trace::StepOutcome outcome) {
  switch (outcome) {
    case trace::StepOutcome::EndToken:
      return "end";
    case trace::StepOutcome::TokenLimit:
      return "limit";
    case trace::StepOutcome::ContextLimit:
      return "context";
    case trace::StepOutcome::Stopped:
      return "stopped";
    case trace::StepOutcome::Failed:
      break;
  }
  return "failed";
}

}  // namespace

const char* severityName(Severity severity) {
  switch (severity) {
    case Severity::Warning:
      return "warning: ";
    case Severity::Error:
      return "error: ";
    case Severity::Note:
      break;
  }
  return "note: ";
}

RunPrinter::RunPrinter(const Streams& streams, const plan::Plan& plan, bool quiet, std::string name,
                       std::int32_t blockSize)
    : m_streams(streams),
      m_name(std::move(name)),
      m_plan(plan),
      m_quiet(quiet),
      m_answers(plan.steps.size()),
      m_accounts(blockSize) {}

void RunPrinter::take(const trace::Event& event) {
  const auto& payload = event.payload;
  m_accounts.take(event.request, payload);
  if (const auto* started = std::get_if<trace::StepStarted>(&payload)) {
    if (started->step < m_answers.size()) m_steps[event.request] = started->step;
  } else if (const auto* token = std::get_if<trace::TokenGenerated>(&payload)) {
    ++m_generated;
    takeText(event.request, token->text);
  } else if (const auto* ended = std::get_if<trace::StepFinished>(&payload)) {
    const auto step = m_steps.find(event.request);
    if (step == m_steps.end()) return;
    Answer& answer = m_answers[step->second];
    // Some token events may be lost. This event has the whole text.
    if (ended->text.size() > answer.length) takeText(event.request, ended->text.substr(answer.length));
    answer.ended = true;
    countSpans(event.request);
    showRotation();
  } else if (const auto* table = std::get_if<trace::SpanTableLaidOut>(&payload)) {
    std::vector<Segment>& segments = m_segments[event.request];
    segments.clear();
    for (const trace::SegmentInfo& segment : table->segments) {
      segments.push_back({.independent = segment.independent && !segment.hidden});
    }
    m_table = table->segments;
  } else if (const auto* chosen = std::get_if<trace::LayoutChosen>(&payload)) {
    m_layoutBlock = chosen->blockSize;
  } else if (const auto* applied = std::get_if<trace::LayoutApplied>(&payload)) {
    m_layout += metrics::layoutMetrics(*applied, m_table, m_layoutBlock);
  } else if (const auto* loaded = std::get_if<trace::BlockLoaded>(&payload)) {
    TierCounts& count = m_loads[loaded->tier];
    count.tokens += loaded->tokens;
    count.bytes += loaded->bytes;
    count.nanoseconds += loaded->nanoseconds;
  } else if (const auto* lookup = std::get_if<trace::BlockLookedUp>(&payload)) {
    const auto segments = m_segments.find(event.request);
    if (segments == m_segments.end() || lookup->segment >= segments->second.size()) return;
    // The hits of a resumed request are mostly blocks of this request.
    if (m_preempted.contains(event.request)) return;
    Segment& segment = segments->second[lookup->segment];
    segment.found += lookup->tokens;
    segment.wanted += lookup->wanted;
    segment.relocated |= lookup->tokens > 0 && lookup->base != lookup->storedBase;
  } else if (const auto* admitted = std::get_if<trace::RequestAdmitted>(&payload)) {
    m_toCompute +=
        admitted->resumed ? admitted->recomputedTokens : admitted->promptTokens - admitted->cachedTokens;
  } else if (std::holds_alternative<trace::RequestPreempted>(payload)) {
    m_preempted.insert(event.request);
  } else if (const auto* batch = std::get_if<trace::BatchComputed>(&payload)) {
    for (const trace::BatchEntry& entry : batch->entries) {
      if (!entry.decode) m_computed += entry.count;
    }
    showProgress();
  } else if (const auto* message = std::get_if<trace::MessageLogged>(&payload)) {
    wipeProgress();
    m_streams.err << m_name << ": " << severityName(message->severity) << message->text << '\n';
  }
}

void RunPrinter::takeText(RequestId request, const std::string& text) {
  const auto step = m_steps.find(request);
  if (step == m_steps.end()) return;
  Answer& answer = m_answers[step->second];
  answer.waiting += text;
  answer.length += text.size();
  showRotation();
}

void RunPrinter::showRotation() {
  if (m_quiet) return;
  bool shown = false;
  while (m_turn < m_answers.size()) {
    Answer& answer = m_answers[m_turn];
    if (!answer.started && (!answer.waiting.empty() || answer.ended)) {
      wipeProgress();
      answer.started = true;
      if (m_answers.size() > 1) {
        m_streams.out << (m_turn > 0 ? "\n" : "") << "── step " << m_turn << ": " << stepName(m_plan, m_turn)
                      << '\n';
      }
    }
    if (!answer.waiting.empty()) {
      wipeProgress();
      m_streams.out << answer.waiting;
      m_midLine = answer.waiting.back() != '\n';
      answer.waiting.clear();
      shown = true;
    }
    if (!answer.ended) break;
    if (m_midLine) m_streams.out << '\n';
    m_midLine = false;
    shown = true;
    ++m_turn;
  }
  if (shown) m_streams.out.flush();
}

void RunPrinter::showProgress() {
  // Progress must not break an unfinished line, because a terminal shows both in the same place.
  if (m_streams.terminal == nullptr || m_midLine) return;
  *m_streams.terminal << "\r\x1b[Kprompt tokens computed " << m_computed << " of " << m_toCompute
                      << ", generated " << m_generated << std::flush;
  m_progressShown = true;
}

void RunPrinter::wipeProgress() {
  if (!m_progressShown) return;
  *m_streams.terminal << "\r\x1b[K" << std::flush;
  m_progressShown = false;
}

void RunPrinter::countSpans(RequestId request) {
  for (const Segment& segment : m_segments[request]) {
    if (!segment.independent) continue;
    if (segment.found == 0) {
      ++m_spans.computed;
    } else if (segment.found < segment.wanted) {
      ++m_spans.partial;
    } else if (segment.relocated) {
      ++m_spans.relocated;
    } else {
      ++m_spans.plain;
    }
  }
}

std::vector<metrics::Totals> RunPrinter::totals(const run::RunResult& result,
                                                const metrics::Meters& meters) const {
  std::vector<metrics::Totals> all(m_plan.steps.size());
  for (metrics::Totals& totals : all) totals.account.emplace();
  for (const auto& [request, step] : m_steps) {
    all[step].account = m_accounts.of(request);
    all[step].metered = meters.of(request);
  }
  for (const run::StepResult& step : result.steps) {
    metrics::Totals& totals = all[step.step];
    totals.generatedTokens = step.metrics.generatedTokens;
    if (step.metrics.generatedTokens > 0) totals.timeToFirstToken = step.metrics.timeToFirstToken;
    if (step.metrics.generatedTokens > 1) totals.interTokenLatency = step.metrics.interTokenLatency;
    totals.queueTime = step.metrics.queueTime;
  }
  return all;
}

void RunPrinter::finish() {
  for (Answer& answer : m_answers) answer.ended = true;
  showRotation();
  wipeProgress();
}

std::string stepName(const plan::Plan& plan, std::size_t index) {
  const plan::Step& step = plan.steps[index];
  std::string name = step.node.empty() ? "the root" : step.node;
  const auto copies = std::ranges::count(plan.steps, step.node, &plan::Step::node);
  name += remote::copyText({.number = std::size_t{step.copy} + 1, .all = static_cast<std::size_t>(copies)});
  if (step.dropped) name += " (dropped)";
  return name;
}

std::string stepTable(const plan::Plan& plan, const run::RunResult& result,
                      const std::vector<metrics::Totals>& totals) {
  using metrics::Metric;
  std::vector<TextTable::Column> columns = {{"step"}, {"node", TextTable::Align::Left}};
  std::vector<const Metric*> shown;
  for (const Metric& metric : metrics::all()) {
    if (!metric.isOf(metrics::Scope::Request) || !metric.isOf(metrics::Scope::Comparison)) continue;
    // A terminal is narrow, so only JSON has the measurements of meters.
    if (metric.meter != nullptr) continue;
    const bool isWorthIt = std::ranges::any_of(totals, [&metric](const metrics::Totals& step) {
      const std::optional<double> value = metric.number(step);
      return value && (!metric.isRare || *value > 0);
    });
    if (!isWorthIt && (metric.isRare || !metric.isTime())) continue;
    shown.push_back(&metric);
    columns.push_back({metrics::shortHeading(metric)});
  }
  columns.push_back({"ended by", TextTable::Align::Left});
  TextTable table(columns);
  for (const run::StepResult& step : result.steps) {
    std::vector<std::string> row = {std::to_string(step.step), stepName(plan, step.step)};
    for (const Metric* const metric : shown) {
      const std::optional<metrics::Value> value = metric->of(totals[step.step]);
      row.push_back(value ? metrics::columnText(metric->unit, *value) : "–");
    }
    row.emplace_back(outcomeName(step.outcome));
    table.addRow(row);
  }
  return table.text();
}

std::string reuseSummary(const std::vector<metrics::Totals>& totals, const SpanCounts& spans) {
  metrics::Totals all;
  all.account.emplace();
  for (const metrics::Totals& step : totals) *all.account += step.account.value_or(metrics::PromptAccount());
  // A policy without span support has no spans to count.
  const bool any = spans.relocated + spans.plain + spans.partial + spans.computed > 0;
  const auto part = [any](std::int64_t spanCount, std::int64_t tokens) {
    return (any ? counted(spanCount, "span") + ", " : "") + counted(tokens, "token");
  };
  std::string line = "relocated hits: " + part(spans.relocated, all.account->prompt.relocated) +
                     "; plain hits: " + part(spans.plain, all.account->prompt.hit);
  if (spans.partial > 0) line += "; partial hits: " + counted(spans.partial, "span");
  line += "; computed: " + part(spans.computed, all.account->prompt.computed) + " of " +
          std::to_string(all.account->total());
  for (const char* const id : {"tokens-computed-again", "unread-tokens", "padding-tokens", "delimiter-tokens",
                               "cropped-tokens", "tokens-beside-the-prompt"}) {
    const metrics::Metric& metric = metrics::get(id);
    const auto tokens = static_cast<std::int64_t>(metric.number(all).value_or(0));
    if (tokens > 0) line += std::string("; ") + metric.shortName + ": " + counted(tokens, "token");
  }
  return line;
}

std::string loadSummary(const LoadCounts& loads) {
  constexpr double kMebibyte = 1 << 20;
  constexpr double kNanoseconds = 1e6;  // nanoseconds of a millisecond
  std::string line;
  for (const auto& [tier, count] : loads) {
    line += (line.empty() ? "loaded blocks: " : "; ") + counted(count.tokens, "token") + " from " +
            (tier == trace::StoreTier::Disk ? "the disk" : "host memory") + ", " +
            fixed(static_cast<double>(count.bytes) / kMebibyte, 1) + " MiB in " +
            fixed(static_cast<double>(count.nanoseconds) / kNanoseconds, 1) + " ms";
  }
  return line;
}

namespace {

constexpr int kDeviationDigits = 3;

trace::FidelityMetrics metricsOf(const MeasuredStep& measured) {
  const trace::FidelityMeasured* one = &measured.answer.fidelity;
  return trace::fidelityOf(std::span(&one, 1));
}

/// Describes the arithmetic of all steps with a measurement. Empty if no step has a measurement.
std::optional<trace::DivergenceMetrics> arithmeticOf(std::span<const MeasuredStep> measured) {
  std::vector<const trace::ArithmeticMeasured*> all;
  for (const MeasuredStep& step : measured) {
    if (step.answer.arithmetic) all.push_back(&*step.answer.arithmetic);
  }
  if (all.empty()) return std::nullopt;
  return trace::arithmeticOf(all);
}

trace::FidelityMetrics metricsOf(const std::vector<MeasuredStep>& measured) {
  std::vector<const trace::FidelityMeasured*> all;
  for (const MeasuredStep& step : measured) all.push_back(&step.answer.fidelity);
  return trace::fidelityOf(all);
}

const run::StepResult* stepOf(const run::RunResult& result, RequestId request) {
  const auto found = std::ranges::find_if(
      result.steps, [request](const run::StepResult& step) { return step.request == request; });
  return found == result.steps.end() ? nullptr : &*found;
}

std::string deviationText(const trace::FidelityMetrics& fidelity) {
  const std::optional<double> mean = fidelity.meanAttentionDeviation();
  return mean ? fixed(*mean, kDeviationDigits) : "–";
}

std::string answerText(const trace::FidelityMetrics& fidelity) {
  if (fidelity.steps == fidelity.sampledSteps) return "sampled";
  if (fidelity.sameAnswers == 1) return "the same";
  const std::string where = fidelity.agreedTokens == 0
                                ? "different from the first token on"
                                : "different after " + counted(fidelity.agreedTokens, "token");
  return where + (fidelity.sameTexts == 1 ? ", same text" : "");
}

nlohmann::ordered_json divergenceJson(const trace::DivergenceMetrics& divergence) {
  nlohmann::ordered_json json;
  json["tokens"] = divergence.tokens;
  json["greedy_tokens_that_agree"] = divergence.agreeing;
  json["divergence_mean_nats"] = divergence.meanDivergence;
  json["divergence_median_nats"] = divergence.medianDivergence;
  json["divergence_most_nats"] = divergence.mostDivergence;
  return json;
}

nlohmann::ordered_json metricsJson(const trace::FidelityMetrics& fidelity) {
  nlohmann::ordered_json json = divergenceJson(fidelity);
  json["steps_drawn_at_random"] = fidelity.sampledSteps;
  json["answers_compared"] = fidelity.steps - fidelity.sampledSteps;
  json["answers_with_same_tokens"] = fidelity.sameAnswers;
  json["answers_with_same_text"] = fidelity.sameTexts;
  json["answer_tokens"] = fidelity.answerTokens;
  json["answer_tokens_before_the_first_difference"] = fidelity.agreedTokens;
  json["attention_rows"] = fidelity.attentionRows;
  json["attention_deviation_by_layer"] = fidelity.attentionDeviation;
  return json;
}

}  // namespace

std::vector<MeasuredStep> measureAnswers(CommandService& service, RunId run,
                                         experiment::FinishedAnswers& gathered, const Context& context) {
  std::vector<run::FinishedAnswer> answers;
  try {
    answers = gathered.takeRun(run);
  } catch (const Failure& failure) {
    context.streams.err << failure.what() << '\n';
  }
  if (answers.empty()) return {};
  const auto work = std::make_shared<jobs::FidelityJob>(std::move(answers));
  const workbench::JobHandle handle = service.carryOut(work, [&] {
    showProgress(context,
                 "measuring fidelity: " + std::to_string(std::min(work->measured() + 1, work->answers())) +
                     " of " + counted(work->answers(), "answer"));
  });
  showProgress(context, "");
  for (const jobs::FidelityJob::Problem& problem : work->problems())
    context.streams.err << (problem.request == 0 ? "reference in f32" : problem.node) << ": "
                        << Failure(problem.error).what() << '\n';
  if (work->problems().empty()) handle.rethrow();
  return work->found();
}

std::string fidelityReport(const plan::Plan& plan, const run::RunResult& result,
                           const std::vector<MeasuredStep>& measured) {
  if (measured.empty()) return "  fidelity: nothing was measured\n";
  TextTable table({{"step"},
                   {"node", TextTable::Align::Left},
                   {"KL mean"},
                   {"median"},
                   {"max"},
                   {"greedy tokens that agree"},
                   {"attention deviation"},
                   {"full prefill answers", TextTable::Align::Left}});
  for (const MeasuredStep& one : measured) {
    const run::StepResult* step = stepOf(result, one.request);
    if (step == nullptr) continue;
    const trace::FidelityMetrics fidelity = metricsOf(one);
    table.addRow({std::to_string(step->step), stepName(plan, step->step),
                  trace::divergenceText(fidelity.meanDivergence),
                  trace::divergenceText(fidelity.medianDivergence),
                  trace::divergenceText(fidelity.mostDivergence),
                  std::to_string(fidelity.agreeing) + " of " + std::to_string(fidelity.tokens),
                  deviationText(fidelity), answerText(fidelity)});
  }
  std::string text =
      /*id:fidelity-heading*/
      "  fidelity compared with a full prefill of the same tokens; divergences in nats\n\n" + table.text();
  if (measured.size() > 1) text += "  full prefill ≈ " + trace::fidelityText(metricsOf(measured)) + '\n';
  if (const auto arithmetic = arithmeticOf(measured))
    text += "  full prefill under " + measured.front().answer.arithmetic->arithmetic +
            " ≈ in f32: " + trace::divergenceText(*arithmetic) + '\n';
  for (const MeasuredStep& one : measured) {
    const run::StepResult* step = stepOf(result, one.request);
    const trace::FidelityMetrics fidelity = metricsOf(one);
    if (step == nullptr || fidelity.sampledSteps > 0 || fidelity.sameAnswers == 1) continue;
    text += "  step " + std::to_string(step->step) +
            ", answer of a full prefill: " + one.answer.fidelity.fullText + '\n';
  }
  return text;
}

nlohmann::ordered_json fidelityJson(const plan::Plan& plan, const run::RunResult& result,
                                    const std::vector<MeasuredStep>& measured) {
  nlohmann::ordered_json json = metricsJson(metricsOf(measured));
  const auto setArithmetic = [](nlohmann::ordered_json& object, std::span<const MeasuredStep> steps) {
    if (const auto fidelity = arithmeticOf(steps)) {
      object["arithmetic_against_f32"] = divergenceJson(*fidelity);
      object["arithmetic_against_f32"]["arithmetic"] = steps.front().answer.arithmetic->arithmetic;
    }
  };
  setArithmetic(json, measured);
  json["steps"] = nlohmann::ordered_json::array();
  for (const MeasuredStep& one : measured) {
    const run::StepResult* step = stepOf(result, one.request);
    if (step == nullptr) continue;
    nlohmann::ordered_json row;
    row["step"] = step->step;
    row["node"] = plan.steps[step->step].node;
    row["copy"] = plan.steps[step->step].copy + 1;
    row["prompt"] = one.answer.fidelity.promptTokens;
    row["cached"] = one.answer.fidelity.cachedTokens;
    row["recomputed"] = one.answer.fidelity.recomputedTokens;
    row.update(metricsJson(metricsOf(one)));
    setArithmetic(row, std::span(&one, 1));
    row["full_answer"] = one.answer.fidelity.fullText;
    row["full_tokens"] = one.answer.fidelity.fullAnswer;
    row["by_token"] = nlohmann::ordered_json::array();
    for (const trace::FidelityToken& token : one.answer.fidelity.tokens) {
      row["by_token"].push_back({{"token", token.token},
                                 {"divergence_nats", token.divergence},
                                 {"policy_best", token.policyBest},
                                 {"full_best", token.fullBest},
                                 {"policy_probability", token.policyProbability},
                                 {"full_probability", token.fullProbability}});
    }
    if (one.answer.arithmetic) {
      row["arithmetic_by_token"] = nlohmann::ordered_json::array();
      for (const trace::ArithmeticToken& token : one.answer.arithmetic->tokens) {
        row["arithmetic_by_token"].push_back({{"token", token.token},
                                              {"divergence_nats", token.divergence},
                                              {"best", token.best},
                                              {"exact_best", token.exactBest},
                                              {"probability", token.probability},
                                              {"exact_probability", token.exactProbability}});
      }
    }
    json["steps"].push_back(std::move(row));
  }
  return json;
}

nlohmann::ordered_json accountJson(const metrics::Totals& totals) {
  nlohmann::ordered_json json;
  for (const metrics::Metric& metric : metrics::all()) {
    if (metric.key == nullptr) continue;
    const std::optional<double> value = metric.number(totals);
    json[metric.key] = value ? nlohmann::ordered_json(std::llround(*value)) : nlohmann::ordered_json(nullptr);
  }
  return json;
}

nlohmann::ordered_json runToJson(const std::string& file, const plan::Plan& plan,
                                 const run::RunResult& result, const SpanCounts& spans,
                                 const LoadCounts& loads, const std::vector<metrics::Totals>& totals) {
  nlohmann::ordered_json json;
  json["file"] = file;
  json["outcome"] = trace::enumName(result.outcome);
  if (result.error) json["error"] = result.error->message();
  json["answer"] = result.answer;
  json["milliseconds"] = result.seconds * kMilliseconds;
  json["spans"] = {{"relocated", spans.relocated},
                   {"plain", spans.plain},
                   {"partial", spans.partial},
                   {"computed", spans.computed}};
  for (const auto& [tier, count] : loads) {
    json["loaded"][std::string(trace::enumName(tier))] = {
        {"tokens", count.tokens},
        {"bytes", count.bytes},
        {"milliseconds", static_cast<double>(count.nanoseconds) / 1e6}};
  }
  json["steps"] = nlohmann::ordered_json::array();
  for (const run::StepResult& step : result.steps) {
    const trace::StepMetrics& metrics = step.metrics;
    nlohmann::ordered_json row;
    row["step"] = step.step;
    row["node"] = plan.steps[step.step].node;
    row["copy"] = plan.steps[step.step].copy + 1;
    row["outcome"] = trace::enumName(step.outcome);
    row["text"] = step.text;
    row["tokens"] = step.tokens;
    row["prompt"] = metrics.promptTokens;
    row["cached"] = metrics.cachedTokens;
    row["relocated"] = metrics.relocatedTokens;
    row["computed"] = metrics.computedTokens;
    row["account"] = accountJson(totals[step.step]);
    row["generated"] = metrics.generatedTokens;
    row["preemptions"] = metrics.preemptions;
    row["recomputed"] = metrics.recomputedTokens;
    row["time_to_first_token_ms"] = metrics.timeToFirstToken * kMilliseconds;
    row["inter_token_latency_ms"] = metrics.interTokenLatency * kMilliseconds;
    row["queue_ms"] = metrics.queueTime * kMilliseconds;
    json["steps"].push_back(std::move(row));
  }
  return json;
}

}  // namespace spanscope::cli
