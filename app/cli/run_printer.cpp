// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/run_printer.h"

#include "app/cli/text_table.h"
#include "engine/base/counted.h"
#include "engine/remote/chat/remote_run.h"
#include "engine/run/run_result.h"

#include <algorithm>
#include <ostream>
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
      m_replies(plan.steps.size()),
      m_accounts(blockSize) {}

void RunPrinter::take(const trace::Event& event) {
  const auto& payload = event.payload;
  m_accounts.take(event.request, payload);
  if (const auto* started = std::get_if<trace::StepStarted>(&payload)) {
    if (started->step < m_replies.size()) m_steps[event.request] = started->step;
  } else if (const auto* token = std::get_if<trace::TokenGenerated>(&payload)) {
    ++m_generated;
    takeText(event.request, token->text);
  } else if (const auto* ended = std::get_if<trace::StepFinished>(&payload)) {
    const auto step = m_steps.find(event.request);
    if (step == m_steps.end()) return;
    Reply& reply = m_replies[step->second];
    // Token events may have been lost on the way; the whole text is here once more.
    if (ended->text.size() > reply.length) takeText(event.request, ended->text.substr(reply.length));
    reply.ended = true;
    countSpans(event.request);
    showTurn();
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
    // What a resumed request finds is mostly what it computed itself.
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
  Reply& reply = m_replies[step->second];
  reply.waiting += text;
  reply.length += text.size();
  showTurn();
}

void RunPrinter::showTurn() {
  if (m_quiet) return;
  bool shown = false;
  while (m_turn < m_replies.size()) {
    Reply& reply = m_replies[m_turn];
    if (!reply.started && (!reply.waiting.empty() || reply.ended)) {
      wipeProgress();
      reply.started = true;
      if (m_replies.size() > 1) {
        m_streams.out << (m_turn > 0 ? "\n" : "") << "── step " << m_turn << ": " << stepName(m_plan, m_turn)
                      << '\n';
      }
    }
    if (!reply.waiting.empty()) {
      wipeProgress();
      m_streams.out << reply.waiting;
      m_midLine = reply.waiting.back() != '\n';
      reply.waiting.clear();
      shown = true;
    }
    if (!reply.ended) break;
    if (m_midLine) m_streams.out << '\n';
    m_midLine = false;
    shown = true;
    ++m_turn;
  }
  if (shown) m_streams.out.flush();
}

void RunPrinter::showProgress() {
  // A line that is being written must not be broken by progress: on a terminal both stand in the same place.
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
  for (Reply& reply : m_replies) reply.ended = true;
  showTurn();
  wipeProgress();
}

std::string stepName(const plan::Plan& plan, std::size_t index) {
  const plan::Step& step = plan.steps[index];
  std::string name = step.node.empty() ? "the root" : step.node;
  const auto copies = std::count_if(plan.steps.begin(), plan.steps.end(),
                                    [&step](const plan::Step& other) { return other.node == step.node; });
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
    // A terminal is narrow: what meters measure is in JSON alone.
    if (metric.meter != nullptr) continue;
    const bool isWorthIt = std::any_of(totals.begin(), totals.end(), [&metric](const metrics::Totals& step) {
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
  // Under a policy without spans there are none to count.
  const bool any = spans.relocated + spans.plain + spans.partial + spans.computed > 0;
  const auto part = [any](std::int64_t spanCount, std::int64_t tokens) {
    return (any ? counted(spanCount, "span") + ", " : "") + counted(tokens, "token");
  };
  std::string line = "relocated hits: " + part(spans.relocated, all.account->prompt.relocated) +
                     "; plain hits: " + part(spans.plain, all.account->prompt.hit);
  if (spans.partial > 0) line += "; partial hits: " + counted(spans.partial, "span");
  line += "; computed: " + part(spans.computed, all.account->prompt.computed) + " of " +
          std::to_string(all.account->total());
  for (const char* const id : {"tokens-computed-again", "unread-tokens", "padded-tokens", "cropped-tokens",
                               "tokens-beside-the-prompt"}) {
    const metrics::Metric& metric = metrics::get(id);
    const auto tokens = static_cast<std::int64_t>(metric.number(all).value_or(0));
    if (tokens > 0) line += std::string("; ") + metric.shortName + ": " + counted(tokens, "token");
  }
  return line;
}

std::string loadSummary(const LoadCounts& loads) {
  constexpr double kMebibyte = 1 << 20;
  constexpr double kNanoseconds = 1e6;  // of a millisecond
  std::string line;
  for (const auto& [tier, count] : loads) {
    line += (line.empty() ? "of these loaded: " : "; ") + counted(count.tokens, "token") + " from " +
            (tier == trace::StoreTier::Disk ? "the disk" : "host memory") + ", " +
            fixed(static_cast<double>(count.bytes) / kMebibyte, 1) + " MiB in " +
            fixed(static_cast<double>(count.nanoseconds) / kNanoseconds, 1) + " ms";
  }
  return line;
}

}  // namespace spanscope::cli
