// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/token_account.h"
#include "ui/views/common/number_text.h"
#include "ui/views/metrics/metrics_view.h"
#include "ui/words/glossary.h"
#include "ui/words/tr.h"

#include <QStringList>

#include <algorithm>
#include <map>
#include <utility>

namespace spanscope::ui {
namespace {

using RunValue = std::optional<double> RunMetrics::*;

/// The run with which this run is compared: the same document on the same model.
const RunMetrics* runBefore(const MetricsModel& model, const RunMetrics& run) {
  const auto found = std::find_if(model.runs.begin(), model.runs.end(),
                                  [&run](const RunMetrics& other) { return other.run == run.before; });
  return found == model.runs.end() ? nullptr : &*found;
}

/// "Run 3 · rag20 · smollm2 · spans"
QString titleOf(const RunMetrics& run) {
  QStringList parts{tr("Run %1").arg(run.run)};
  for (const QString& part : {run.document, run.model, run.policy}) {
    if (!part.isEmpty()) parts += part;
  }
  return parts.join(tr(" · "));
}

/// Lines that join only runs that can be compared with each other. The first line has the name.
class GroupedLines {
 public:
  explicit GroupedLines(PlotSeries look) : m_look(std::move(look)) { m_lines.push_back(m_look); }

  void add(const RunMetrics& run, PlotPoint point) {
    const std::size_t next = m_byGroup.size();
    const auto [place, isNew] = m_byGroup.try_emplace({run.document, run.model}, next);
    if (isNew && next > 0) {
      m_lines.push_back(m_look);
      m_lines.back().name.clear();
    }
    m_lines[place->second].points.push_back(std::move(point));
  }

  std::vector<PlotSeries> take() { return std::move(m_lines); }

 private:
  PlotSeries m_look;
  std::vector<PlotSeries> m_lines;
  std::map<std::pair<QString, QString>, std::size_t> m_byGroup;  ///< index of its line
};

/// Sets the newest value, and its change since the last run before that is like it and has a value.
void setNewest(CardContent& card, const MetricsModel& model, RunValue value, QString (*format)(double),
               bool lessIsBetter) {
  const RunMetrics* last = nullptr;
  for (const RunMetrics& run : model.runs) {
    if (run.*value) last = &run;
  }
  if (last == nullptr) return;
  card.value = format(*(last->*value));
  const RunMetrics* before = runBefore(model, *last);
  while (before != nullptr && !(before->*value)) before = runBefore(model, *before);
  if (before == nullptr) return;
  const double now = *(last->*value);
  const double then = *(before->*value);
  const QString change = changeText(now, then);
  if (change.isEmpty()) return;
  card.change = tr("%1 vs %2").arg(change, baseName(last->basis, before->basis));
  card.verdict = now == then || !isLike(last->basis, before->basis) ? 0
                 : (now < then) == lessIsBetter                     ? 1
                                                                    : -1;
}

QString rateText(double value) {
  return tr("%1 tokens/s").arg(countText(value));
}

CardContent latencyCard(const MetricsModel& model, RunValue median, double trace::StepMetrics::*each,
                        BlockRole role, std::int64_t leastTokens) {
  CardContent card;
  card.xName = tr("run");
  card.yName = tr("ms");
  PlotSeries requests{
      .kind = SeriesKind::Markers, .name = tr("request"), .role = role, .square = true, .points = {}};
  GroupedLines lines(
      {.kind = SeriesKind::Line, .name = tr("median"), .role = role, .dashed = true, .points = {}});
  for (const RunMetrics& run : model.runs) {
    for (const RequestMetrics& request : run.requests) {
      if (request.values.generatedTokens < leastTokens) continue;
      const double value = request.values.*each;
      if (!request.isAccounted && value <= 0) continue;
      requests.points.push_back(
          {.x = static_cast<double>(run.run),
           .y = value * 1000,
           .text = tr("%1 · %2: %3").arg(titleOf(run), request.name, durationText(value)),
           .tag = static_cast<int>(request.request)});
    }
    if (run.*median)
      lines.add(run, {.x = static_cast<double>(run.run), .y = *(run.*median) * 1000, .text = {}});
  }
  card.series = lines.take();
  card.series.push_back(std::move(requests));
  setNewest(card, model, median, durationText, true);
  return card;
}

CardContent cachedCard(const MetricsModel& model) {
  CardContent card;
  card.title = tr("Prompt tokens cached");
  card.explanation = tr(
      "Share of each run's prompt tokens that came from the cache: where they stood before (hit), or "
      "moved to another position (relocated). Tokens that the policy computed again do not count. The line "
      "is the share that was found of the newest 1000 requests up to the end of the run, computed again or "
      "not.");
  card.xName = tr("run");
  card.yName = tr("% of prompt");
  card.yTop = 100;
  PlotSeries hit{.kind = SeriesKind::Bars, .name = tr("hit"), .role = BlockRole::Hit, .points = {}};
  PlotSeries relocated{
      .kind = SeriesKind::Bars, .name = tr("relocated"), .role = BlockRole::Relocated, .points = {}};
  PlotSeries recent{.kind = SeriesKind::Line,
                    .name = tr("last 1000"),
                    .role = BlockRole::Computed,
                    .dashed = true,
                    .points = {}};
  const RunMetrics* last = nullptr;
  for (const RunMetrics& run : model.runs) {
    if (!run.requests.empty() && run.requests.back().recentHitRate) {
      const double rate = 100 * *run.requests.back().recentHitRate;
      recent.points.push_back({.x = static_cast<double>(run.run),
                               .y = rate,
                               .text = tr("%1: %2 % of the newest 1000 requests, up to this run")
                                           .arg(titleOf(run))
                                           .arg(rate, 0, 'f', 1),
                               .tag = static_cast<int>(run.requests.back().request)});
    }
    const trace::PromptAccount& account = run.account;
    if (account.total() <= 0) continue;
    last = &run;
    const double whole = static_cast<double>(account.total());
    const double hits = 100 * static_cast<double>(account.prompt.hit) / whole;
    const double moved = 100 * static_cast<double>(account.prompt.relocated) / whole;
    QString text = tr("%1: %2 of %3 prompt tokens cached, %4 of them relocated")
                       .arg(titleOf(run))
                       .arg(account.prompt.cached())
                       .arg(account.total())
                       .arg(account.prompt.relocated);
    for (const QString& words : accountWords(account.prompt)) text += tr("; %1").arg(words);
    const int tag = run.requests.empty() ? -1 : static_cast<int>(run.requests.back().request);
    hit.points.push_back({.x = static_cast<double>(run.run), .y = hits, .text = {}});
    relocated.points.push_back({.x = static_cast<double>(run.run), .y = moved, .text = text, .tag = tag});
  }
  if (last != nullptr) {
    const std::int64_t now = last->account.prompt.cached();
    card.value = shareText(now, last->account.total());
    const RunMetrics* before = runBefore(model, *last);
    while (before != nullptr && before->account.total() <= 0) before = runBefore(model, *before);
    if (before != nullptr) {
      const std::int64_t then = before->account.prompt.cached();
      card.change =
          tr("%1 in %2").arg(shareText(then, before->account.total()), baseName(last->basis, before->basis));
      const std::int64_t a = now * before->account.total();
      const std::int64_t b = then * last->account.total();
      card.verdict = a == b ? 0 : a > b ? 1 : -1;
    }
  }
  card.series = {std::move(hit), std::move(relocated), std::move(recent)};
  return card;
}

CardContent residencyCard(const MetricsModel& model) {
  const ResidencyCurves& residency = model.residency;
  CardContent card;
  card.title = tr("Time in the pool");
  card.explanation = tr(
      "Of the contents that were evicted, the share that had been in the pool for so long; that nobody had "
      "used for so long by then; and the times between their uses. Where contents are evicted soon after "
      "their last use, a larger pool would find more of them.");
  card.xName = tr("s");
  card.yName = tr("% of evicted");
  card.wholeX = false;
  card.yTop = 104;  // so that marks at 100 % are not cut
  const auto add = [&card](const QString& name, const QString& sentence, BlockRole role, bool dashed,
                           const ShareCurve& curve) {
    PlotSeries series{.kind = SeriesKind::Line, .name = name, .role = role, .dashed = dashed, .points = {}};
    if (!curve.empty()) series.points.push_back({.x = 0, .y = 0, .text = {}});
    for (const SharePoint& point : curve) {
      series.points.push_back(
          {.x = point.seconds,
           .y = 100 * point.share,
           .text = sentence.arg(point.share * 100, 0, 'f', 0).arg(durationText(point.seconds))});
    }
    card.series.push_back(std::move(series));
  };
  add(tr("stayed"), tr("%1 % had stayed for %2 or less"), BlockRole::Hit, false, residency.lifetime);
  add(tr("idle"), tr("%1 % had been idle for %2 or less"), BlockRole::Computed, true, residency.idle);
  add(tr("between uses"), tr("%1 % of the times between uses were %2 or less"), BlockRole::Relocated, false,
      residency.gap);
  if (residency.figures.lifetime) {
    card.value = durationText(*residency.figures.lifetime);
    card.change = tr("median of %1 evicted").arg(residency.figures.evicted);
  } else {
    card.value = tr("nothing was evicted");
  }
  return card;
}

CardContent blocksCard(const MetricsModel& model) {
  CardContent card;
  card.title = tr("Blocks held by requests");
  card.explanation =
      tr("Blocks of the pool that requests hold while they run, and those that two or more of them share. "
         "Blocks "
         "that nobody holds stay in the cache until others need them: the status bar counts those too.");
  card.xName = tr("s since the session started");
  card.yName = tr("blocks");
  card.wholeX = false;
  PlotSeries held{.kind = SeriesKind::Area, .name = tr("held"), .role = BlockRole::Hit, .points = {}};
  PlotSeries shared{
      .kind = SeriesKind::Area, .name = tr("shared"), .role = BlockRole::Relocated, .points = {}};
  std::int32_t most = 0;
  for (const BlockUse& use : model.use) {
    const double seconds = static_cast<double>(use.time) * 1e-9;
    held.points.push_back({.x = seconds, .y = static_cast<double>(use.held), .text = {}});
    shared.points.push_back({.x = seconds, .y = static_cast<double>(use.shared), .text = {}});
    most = std::max(most, use.held);
  }
  if (!model.use.empty()) {
    // When all runs have ended, no block is held. So the card shows the most that they needed.
    card.value = model.blockCount > 0 ? tr("at most %1 of %2").arg(most).arg(model.blockCount)
                                      : tr("at most %1").arg(most);
    card.change = tr("%1 at this moment").arg(model.use.back().held);
  }
  card.series = {std::move(held), std::move(shared)};
  return card;
}

CardContent speedCard(const MetricsModel& model) {
  CardContent card;
  card.title = tr("Speed");
  card.explanation =
      tr("Tokens a second: of prompts, over the passes that compute some; decoded, over the passes that "
         "only decode. A pass that a run shares with others counts for each of them with its whole time.");
  card.xName = tr("run");
  card.yName = tr("tokens/s");
  const auto addLines = [&](RunValue value, const PlotSeries& look) {
    GroupedLines lines(look);
    for (const RunMetrics& run : model.runs) {
      if (!(run.*value)) continue;
      const int tag = run.requests.empty() ? -1 : static_cast<int>(run.requests.back().request);
      lines.add(run, {.x = static_cast<double>(run.run),
                      .y = *(run.*value),
                      .text = tr("%1 · %2: %3").arg(titleOf(run), look.name, rateText(*(run.*value))),
                      .tag = tag});
    }
    for (PlotSeries& line : lines.take()) card.series.push_back(std::move(line));
  };
  addLines(&RunMetrics::prefillRate,
           {.kind = SeriesKind::Line, .name = tr("prompt"), .role = BlockRole::Computed, .points = {}});
  addLines(&RunMetrics::decodeRate, {.kind = SeriesKind::Line,
                                     .name = tr("decoding"),
                                     .role = BlockRole::Hit,
                                     .dashed = true,
                                     .square = true,
                                     .points = {}});
  setNewest(card, model, &RunMetrics::decodeRate, rateText, false);
  return card;
}

}  // namespace

std::vector<CardContent> metricCards(const MetricsModel& model) {
  CardContent first = latencyCard(model, &RunMetrics::timeToFirstToken, &trace::StepMetrics::timeToFirstToken,
                                  BlockRole::Computed, 1);
  first.title = tr("Time to first token (TTFT)");
  first.explanation = explain(u"ttft");
  CardContent between = latencyCard(model, &RunMetrics::interTokenLatency,
                                    &trace::StepMetrics::interTokenLatency, BlockRole::Hit, 2);
  between.title = tr("Inter-token latency (ITL)");
  between.explanation = explain(u"itl");
  return {std::move(first),  std::move(between), cachedCard(model),
          blocksCard(model), speedCard(model),   residencyCard(model)};
}

}  // namespace spanscope::ui
