// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/token_account.h"
#include "ui/views/common/number_text.h"
#include "ui/views/metrics/metrics_view.h"
#include "ui/words/metric_words.h"
#include "ui/words/tr.h"

#include <QStringList>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace spanscope::ui {
namespace {

using metrics::Metric;

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

/// Sets the newest value, and its change since the last comparable run with a value.
void setNewest(MetricCardContent& card, const MetricsModel& model, const Metric& metric) {
  const RunMetrics* last = nullptr;
  for (const RunMetrics& run : model.runs) {
    if (metric.number(run.totals)) last = &run;
  }
  if (last == nullptr) return;
  const double now = *metric.number(last->totals);
  card.value = metricText(metric, now);
  const RunMetrics* before = runBefore(model, *last);
  while (before != nullptr && !metric.number(before->totals)) before = runBefore(model, *before);
  if (before == nullptr) return;
  const double then = *metric.number(before->totals);
  const QString change = changeText(now, then);
  if (change.isEmpty()) return;
  card.change = tr("%1 vs %2").arg(change, baseName(last->basis, before->basis));
  const bool isJudged =
      now != then && metric.better != metrics::Better::Neither && isLike(last->basis, before->basis);
  card.verdict = !isJudged ? 0 : (now > then) == (metric.better == metrics::Better::More) ? 1 : -1;
}

/// A line over the runs, and a mark for each of their requests.
MetricCardContent lineCard(const MetricsModel& model, const Metric& metric, BlockRole role) {
  MetricCardContent card;
  card.title = metricLongTitle(metric.id);
  card.explanation = metricMeaning(metric.id);
  card.xName = tr("run");
  card.yName = QString::fromUtf8(metrics::unitName(metric.unit));
  PlotSeries requests{
      .kind = SeriesKind::Markers, .name = tr("request"), .role = role, .square = true, .points = {}};
  const QString ofRuns = metric.isTime() ? tr("median") : tr("run");
  GroupedLines lines({.kind = SeriesKind::Line, .name = ofRuns, .role = role, .dashed = true, .points = {}});
  for (const RunMetrics& run : model.runs) {
    const auto x = static_cast<double>(run.run);
    for (const RequestMetrics& request : run.requests) {
      const std::optional<double> value = metric.number(request.totals);
      if (!value) continue;
      requests.points.push_back(
          {.x = x,
           .y = metrics::displayed(metric.unit, *value),
           .text = tr("%1 · %2: %3").arg(titleOf(run), request.name, metricText(metric, *value)),
           .tag = static_cast<int>(request.request)});
    }
    if (const std::optional<double> value = metric.number(run.totals))
      lines.add(run, {.x = x, .y = metrics::displayed(metric.unit, *value), .text = {}});
  }
  card.series = lines.take();
  card.series.push_back(std::move(requests));
  setNewest(card, model, metric);
  return card;
}

MetricCardContent cachedCard(const MetricsModel& model) {
  const Metric& rate = metrics::get("hit-rate");
  const Metric& recentRate = metrics::get("recent-hit-rate");
  MetricCardContent card;
  card.title = metricTitle(rate.id);
  card.explanation = metricMeaning(rate.id);
  for (const char* const id : {"hit-tokens", "relocated-tokens", "recent-hit-rate"})
    card.explanation += QStringLiteral("\n%1: %2").arg(metricShortName(id), metricMeaning(id));
  card.xName = tr("run");
  card.yName = QString::fromUtf8(metrics::unitName(rate.unit));
  card.yTop = 100;
  PlotSeries hit{
      .kind = SeriesKind::Bars, .name = metricShortName("hit-tokens"), .role = BlockRole::Hit, .points = {}};
  PlotSeries relocated{.kind = SeriesKind::Bars,
                       .name = metricShortName("relocated-tokens"),
                       .role = BlockRole::Relocated,
                       .points = {}};
  PlotSeries recent{.kind = SeriesKind::Line,
                    .name = metricShortName(recentRate.id),
                    .role = BlockRole::Computed,
                    .dashed = true,
                    .points = {}};
  const auto hasPrompt = [](const RunMetrics& run) {
    return run.totals.account && run.totals.account->total() > 0;
  };
  const RunMetrics* last = nullptr;
  for (const RunMetrics& run : model.runs) {
    const auto x = static_cast<double>(run.run);
    const int tag = run.requests.empty() ? -1 : static_cast<int>(run.requests.back().request);
    if (const std::optional<double> share = recentRate.number(run.totals)) {
      recent.points.push_back(
          {.x = x,
           .y = 100 * *share,
           .text =
               tr("%1: %2 %3").arg(titleOf(run), metricName(recentRate.id), metricText(recentRate, *share)),
           .tag = tag});
    }
    if (!hasPrompt(run)) continue;
    last = &run;
    const metrics::PromptAccount& account = *run.totals.account;
    const double whole = static_cast<double>(account.total());
    QStringList words{metricShare("cached-tokens", account.prompt.cached(), "prompt-tokens", account.total()),
                      metricPhrase("relocated-tokens", static_cast<double>(account.prompt.relocated))};
    words += accountWords(account.prompt);
    hit.points.push_back({.x = x, .y = 100 * static_cast<double>(account.prompt.hit) / whole, .text = {}});
    relocated.points.push_back({.x = x,
                                .y = 100 * static_cast<double>(account.prompt.relocated) / whole,
                                .text = tr("%1: %2").arg(titleOf(run), words.join(tr("; "))),
                                .tag = tag});
  }
  if (last != nullptr) {
    const double now = *rate.number(last->totals);
    card.value = metricText(rate, now);
    const RunMetrics* before = runBefore(model, *last);
    while (before != nullptr && !hasPrompt(*before)) before = runBefore(model, *before);
    if (before != nullptr) {
      const double then = *rate.number(before->totals);
      card.change = tr("%1 in %2").arg(metricText(rate, then), baseName(last->basis, before->basis));
      card.verdict = now == then ? 0 : now > then ? 1 : -1;
    }
  }
  card.series = {std::move(hit), std::move(relocated), std::move(recent)};
  return card;
}

MetricCardContent residencyCard(const MetricsModel& model) {
  const ResidencyCurves& residency = model.residency;
  MetricCardContent card;
  card.title = metricTitle("pool-time");
  card.explanation =
      tr("%1 %2 %3 If blocks are evicted soon after their last use, a larger pool reuses more.")
          .arg(metricExplanation("pool-time"), metricExplanation("idle-time"),
               metricExplanation("reuse-interval"));
  card.xName = tr("s");
  card.yName = tr("% of evicted");
  card.wholeX = false;
  card.yTop = 104;  // so that marks at 100 % are not cut
  const auto add = [&card](std::string_view metric, BlockRole role, bool dashed, const ShareCurve& curve) {
    PlotSeries series{.kind = SeriesKind::Line,
                      .name = metricShortName(metric),
                      .role = role,
                      .dashed = dashed,
                      .points = {}};
    if (!curve.empty()) series.points.push_back({.x = 0, .y = 0, .text = {}});
    for (const SharePoint& point : curve) {
      series.points.push_back({.x = point.seconds,
                               .y = 100 * point.share,
                               .text = tr("%1 or less: %2 %")
                                           .arg(metricPhrase(metric, point.seconds))
                                           .arg(point.share * 100, 0, 'f', 0)});
    }
    card.series.push_back(std::move(series));
  };
  add("pool-time", BlockRole::Hit, false, residency.lifetime);
  add("idle-time", BlockRole::Computed, true, residency.idle);
  add("reuse-interval", BlockRole::Relocated, false, residency.gap);
  if (residency.medians.lifetime) {
    card.value = metricText("pool-time", metrics::PoolFacts{.residency = residency.medians});
    card.change = tr("median of %1")
                      .arg(metricPhrase("evicted-blocks", static_cast<double>(residency.medians.evicted)));
  } else {
    card.value = tr("nothing was evicted");
  }
  return card;
}

MetricCardContent blocksCard(const MetricsModel& model) {
  MetricCardContent card;
  card.title = metricTitle("blocks-in-use");
  card.explanation = tr("%1 %2 The status line also counts %3.")
                         .arg(metricExplanation("blocks-in-use"), metricExplanation("shared-blocks"),
                              metricName("cached-blocks"));
  card.xName = tr("s since the session started");
  card.yName = QString::fromUtf8(metrics::unitName(metrics::Unit::Blocks));
  card.wholeX = false;
  PlotSeries held{.kind = SeriesKind::Area,
                  .name = metricShortName("blocks-in-use"),
                  .role = BlockRole::Hit,
                  .points = {}};
  PlotSeries shared{.kind = SeriesKind::Area,
                    .name = metricShortName("shared-blocks"),
                    .role = BlockRole::Relocated,
                    .points = {}};
  std::int32_t most = 0;
  for (const BlockUse& use : model.use) {
    const double seconds = static_cast<double>(use.time) * 1e-9;
    held.points.push_back({.x = seconds, .y = static_cast<double>(use.held), .text = {}});
    shared.points.push_back({.x = seconds, .y = static_cast<double>(use.shared), .text = {}});
    most = std::max(most, use.held);
  }
  if (!model.use.empty()) {
    // When all runs have ended, no block is in use. So the card shows the max that the runs needed.
    card.value =
        model.blockCount > 0 ? tr("max %1 of %2").arg(most).arg(model.blockCount) : tr("max %1").arg(most);
    card.change = tr("%1 at this moment").arg(model.use.back().held);
  }
  card.series = {std::move(held), std::move(shared)};
  return card;
}

MetricCardContent speedCard(const MetricsModel& model) {
  const Metric& prefill = metrics::get("prefill-speed");
  const Metric& decode = metrics::get("decode-speed");
  MetricCardContent card;
  card.title = tr("Speed");
  card.explanation = tr("%1 %2 If several runs share a forward pass, each run counts its full time.")
                         .arg(metricMeaning(prefill.id), metricMeaning(decode.id));
  card.xName = tr("run");
  card.yName = QString::fromUtf8(metrics::unitName(decode.unit));
  const auto addLines = [&](const Metric& metric, const PlotSeries& look) {
    GroupedLines lines(look);
    for (const RunMetrics& run : model.runs) {
      const std::optional<double> value = metric.number(run.totals);
      if (!value) continue;
      const int tag = run.requests.empty() ? -1 : static_cast<int>(run.requests.back().request);
      lines.add(run, {.x = static_cast<double>(run.run),
                      .y = *value,
                      .text = tr("%1 · %2: %3").arg(titleOf(run), look.name, metricText(metric, *value)),
                      .tag = tag});
    }
    for (PlotSeries& line : lines.take()) card.series.push_back(std::move(line));
  };
  addLines(prefill, {.kind = SeriesKind::Line,
                     .name = metricShortName(prefill.id),
                     .role = BlockRole::Computed,
                     .points = {}});
  addLines(decode, {.kind = SeriesKind::Line,
                    .name = metricShortName(decode.id),
                    .role = BlockRole::Hit,
                    .dashed = true,
                    .square = true,
                    .points = {}});
  setNewest(card, model, decode);
  return card;
}

}  // namespace

std::vector<MetricCardContent> metricCards(const MetricsModel& model) {
  // Times come first, each in its own ink.
  std::vector<MetricCardContent> cards;
  std::vector<MetricCardContent> counts;
  for (const Metric& metric : metrics::all()) {
    if (!metric.isPlotted) continue;
    if (!metric.isTime()) {
      counts.push_back(lineCard(model, metric, BlockRole::Hit));
    } else {
      cards.push_back(lineCard(model, metric, cards.empty() ? BlockRole::Computed : BlockRole::Hit));
    }
  }
  cards.push_back(cachedCard(model));
  for (MetricCardContent& card : counts) cards.push_back(std::move(card));
  for (MetricCardContent& card : std::array{blocksCard(model), speedCard(model), residencyCard(model)})
    cards.push_back(std::move(card));
  return cards;
}

}  // namespace spanscope::ui
