// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/metrics/metrics_view.h"

#include "ui/session/run_history.h"
#include "ui/views/common/choices.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/segment_names.h"
#include "ui/words/metric_words.h"
#include "ui/words/tr.h"

#include <QGridLayout>
#include <QPainter>
#include <QScrollArea>
#include <QScrollBar>
#include <QVBoxLayout>

#include <algorithm>
#include <map>
#include <utility>

namespace spanscope::ui {

namespace {

ShareCurve curveOf(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  ShareCurve curve;
  const std::size_t points = std::min(seconds.size(), ResidencyCurves::kMostPoints);
  for (std::size_t point = 1; point <= points; ++point) {
    const std::size_t count = point * seconds.size() / points;
    curve.push_back({.seconds = seconds[count - 1],
                     .share = static_cast<double>(count) / static_cast<double>(seconds.size())});
  }
  return curve;
}

ResidencyCurves curvesOf(const std::vector<metrics::Residency>& evicted) {
  std::vector<double> lifetimes;
  std::vector<double> idles;
  std::vector<double> gaps;
  const auto seconds = [](std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; };
  for (const metrics::Residency& residency : evicted) {
    lifetimes.push_back(seconds(residency.lifetime));
    idles.push_back(seconds(residency.idle));
    for (const std::int64_t gap : residency.gaps) gaps.push_back(seconds(gap));
  }
  return {.medians = metrics::metricsOf(evicted),
          .lifetime = curveOf(std::move(lifetimes)),
          .idle = curveOf(std::move(idles)),
          .gap = curveOf(std::move(gaps))};
}

}  // namespace

void ResidencyFollower::follow(const std::shared_ptr<const TraceStore>& trace, std::size_t position) {
  if (trace != m_trace || position < m_position) *this = ResidencyFollower();
  m_trace = trace;
  const std::size_t evicted = m_residencies.evicted().size();
  for (; m_position < position; ++m_position) m_residencies.take(trace->event(m_position));
  if (m_residencies.evicted().size() != evicted) m_curves = curvesOf(m_residencies.evicted());
}

const std::vector<BlockUse>& BlockUseSampler::sample(const std::shared_ptr<const TraceStore>& trace,
                                                     std::size_t position) {
  if (trace != m_trace || position < m_position) *this = BlockUseSampler();
  m_trace = trace;
  for (; m_position < position; ++m_position) take(trace->event(m_position));
  return m_points;
}

void BlockUseSampler::take(const trace::Event& event) {
  if (const auto* allocated = std::get_if<trace::BlockAllocated>(&event.payload)) {
    set(allocated->block, 1);
  } else if (const auto* shared = std::get_if<trace::BlockShared>(&event.payload)) {
    set(shared->block, shared->references);
  } else if (const auto* released = std::get_if<trace::BlockReleased>(&event.payload)) {
    set(released->block, released->references);
  } else if (const auto* session = std::get_if<trace::SessionStarted>(&event.payload)) {
    setAll(session->pool);
  } else if (const auto* snapshot = std::get_if<trace::Snapshot>(&event.payload)) {
    setAll(snapshot->pool);
  } else {
    return;
  }
  note(event.time);
}

void BlockUseSampler::set(BlockId block, std::int32_t references) {
  const auto index = static_cast<std::size_t>(block);
  if (index >= m_references.size()) m_references.resize(index + 1, 0);
  std::int32_t& now = m_references[index];
  m_held += (references > 0 ? 1 : 0) - (now > 0 ? 1 : 0);
  m_shared += (references > 1 ? 1 : 0) - (now > 1 ? 1 : 0);
  now = references;
}

void BlockUseSampler::setAll(const trace::PoolState& pool) {
  m_references.assign(pool.blocks.size(), 0);
  m_held = 0;
  m_shared = 0;
  for (std::size_t block = 0; block < pool.blocks.size(); ++block) {
    set(static_cast<BlockId>(block), pool.blocks[block].references);
  }
}

void BlockUseSampler::note(std::int64_t time) {
  if (!m_points.empty()) {
    BlockUse& last = m_points.back();
    if (last.held == m_held && last.shared == m_shared) return;
    if (time - last.time <= m_distance) {
      last.held = time == last.time ? m_held : std::max(last.held, m_held);
      last.shared = time == last.time ? m_shared : std::max(last.shared, m_shared);
      return;
    }
  }
  m_points.push_back({.time = time, .held = m_held, .shared = m_shared});
  if (m_points.size() <= kMostPoints) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i + 1 < m_points.size(); i += 2) {
    m_points[kept++] = {.time = m_points[i].time,
                        .held = std::max(m_points[i].held, m_points[i + 1].held),
                        .shared = std::max(m_points[i].shared, m_points[i + 1].shared)};
  }
  // The newest point stays as it is, because this point shows the present.
  m_points[kept++] = m_points.back();
  m_points.resize(kept);
  m_distance = (m_points.back().time - m_points.front().time) / static_cast<std::int64_t>(kMostPoints);
}

namespace {

/// The speeds of runs. The runs belong to few traces, and each trace is read only once.
class Speeds {
 public:
  RunRates of(const ListedRun& listed) {
    const auto [found, isNew] = m_rates.try_emplace({listed.trace.get(), listed.position});
    if (isNew) found->second = ratesOfRuns(*listed.trace, listed.position);
    const auto own = found->second.find(listed.run);
    return own == found->second.end() ? RunRates() : own->second;
  }

 private:
  std::map<std::pair<const TraceStore*, std::size_t>, std::map<RunId, RunRates>> m_rates;
};

}  // namespace

MetricsModel metricsModel(const ViewInput& input, RunScope scope) {
  MetricsSamplers samplers;
  return metricsModel(input, samplers, scope);
}

MetricsModel metricsModel(const ViewInput& input, MetricsSamplers& samplers, RunScope scope) {
  samplers.residency.follow(input.trace, input.position);
  MetricsModel model;
  const trace::Replay& replay = input.state();
  const std::vector<ListedRun> runs = listRuns(input);
  Speeds speeds;
  for (const ListedRun& listed : runs) {
    const trace::RunState& state = listed.state();
    if (state.requests.empty()) continue;
    if (scope == RunScope::Document && !listed.isOwn) {
      ++model.others;
      continue;
    }
    RunMetrics run;
    run.run = listed.run;
    run.policy = listed.policyText();
    run.document = listed.document();
    run.model = listed.model;
    run.basis = basisOf(listed);
    run.totals = totalsOf(listed, samplers.meters);
    StepNames names(input, *listed.progress);
    for (const RequestId requestId : state.requests) {
      const auto found = listed.progress->requests.find(requestId);
      if (found == listed.progress->requests.end()) continue;
      const trace::RequestState& reported = found->second;
      if (!reported.metrics && (!reported.reported || !reported.reported->brokenBy.empty())) continue;
      RequestMetrics& request = run.requests.emplace_back();
      request.request = requestId;
      request.node = found->second.node;
      request.name = names.of(found->second);
      request.totals = totalsOf(listed, requestId, samplers.meters);
    }
    if (listed.record != nullptr && listed.record->metricValues) {
      run.totals.prefillRate = listed.record->prefillRate;
      run.totals.decodeRate = listed.record->decodeRate;
    } else if (listed.trace) {
      const RunRates rates = speeds.of(listed);
      run.totals.prefillRate = rates.prefill;
      run.totals.decodeRate = rates.decode;
    }
    // The last run before it with which it can be compared.
    for (auto before = model.runs.rbegin(); before != model.runs.rend() && run.before == 0; ++before) {
      if (before->document == run.document && before->model == run.model) run.before = before->run;
    }
    model.runs.push_back(std::move(run));
  }
  // Block 0 is never allocated.
  const std::size_t blocks = replay.pool().blockCount();
  model.blockCount = blocks == 0 ? 0 : static_cast<std::int32_t>(blocks) - 1;
  model.use = samplers.use.sample(input.trace, input.position);
  model.residency = samplers.residency.curves();
  return model;
}

QString metricsCsv(const MetricsModel& model) {
  std::vector<const metrics::Metric*> columns;
  QStringList titles{tr("run"), tr("query"), tr("model"), tr("policy"), tr("request"), tr("step")};
  for (const metrics::Metric& metric : metrics::all()) {
    if (!metric.isOf(metrics::Scope::Request)) continue;
    columns.push_back(&metric);
    titles << metricHeading(metric.id);
  }
  QString text = csvLine(titles);
  for (const RunMetrics& run : model.runs) {
    for (const RequestMetrics& request : run.requests) {
      metrics::Totals totals = request.totals;
      totals.prefillRate = run.totals.prefillRate;
      totals.decodeRate = run.totals.decodeRate;
      QStringList cells{QString::number(run.run),         run.document, run.model, run.policy,
                        QString::number(request.request), request.name};
      for (const metrics::Metric* metric : columns) cells << metricCell(*metric, metric->of(totals));
      text += csvLine(cells);
    }
  }
  return text;
}

namespace {

constexpr int kCardWidth = 280;
constexpr int kLeastCardHeight = 160;
constexpr int kGap = 2 * kSpace;
constexpr int kSteepest = 2;  ///< greatest ratio of a card's height to its width

/// "3 runs · rag20 · smollm2, spanlet": the document and models of the metrics.
QString summaryOf(const MetricsModel& model) {
  if (model.runs.empty()) return {};
  QStringList parts{model.runs.size() == 1 ? MetricsView::tr("1 run")
                                           : MetricsView::tr("%1 runs").arg(model.runs.size())};
  QStringList documents;
  QStringList models;
  for (const RunMetrics& run : model.runs) {
    if (!run.document.isEmpty() && !documents.contains(run.document)) documents += run.document;
    if (!run.model.isEmpty() && !models.contains(run.model)) models += run.model;
  }
  if (!documents.isEmpty()) parts += documents.join(MetricsView::tr(", "));
  if (!models.isEmpty()) parts += models.join(MetricsView::tr(", "));
  return parts.join(MetricsView::tr(" · "));
}

}  // namespace

MetricsView::MetricsView(QWidget* parent) : RunView(parent), m_scroll(new QScrollArea(this)) {
  setAccessibleName(tr("Metrics"));
  auto* content = new QWidget(m_scroll);
  content->setAutoFillBackground(false);
  m_grid = new QGridLayout(content);
  m_grid->setContentsMargins(kGap, kGap, kGap, kGap);
  m_grid->setSpacing(kGap);
  for (std::size_t i = 0; i < metricCards({}).size(); ++i) {
    auto* card = new MetricCard(content);
    connect(card, &MetricCard::pointChosen, this, &MetricsView::select);
    m_cards.push_back(card);
  }
  m_scroll->setWidget(content);
  m_scroll->setWidgetResizable(true);
  m_scroll->setFrameShape(QFrame::NoFrame);
  m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_scroll->viewport()->setAutoFillBackground(false);
  m_scroll->setFocusPolicy(Qt::NoFocus);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(m_scroll);
  m_scroll->hide();
  m_scope = new ScopeBox(titleRow());
  connect(m_scope, &ScopeBox::changed, this, [this] {
    if (input() != nullptr) refresh();
  });
  arrange();
}

int MetricsView::columnsFor(QSize size) const {
  const int fitting = std::clamp(size.width() / kCardWidth, 1, cardCount());
  // Takes as few rows as fit, unless the cards would be too high for their width. Rows are evenly filled.
  int rows = (cardCount() + fitting - 1) / fitting;
  const auto columnsOf = [this](int count) { return (cardCount() + count - 1) / count; };
  while (columnsOf(rows) > 1 && size.height() / rows > kSteepest * size.width() / columnsOf(rows)) ++rows;
  return columnsOf(rows);
}

void MetricsView::arrange() {
  const int columns = columnsFor(this->size());
  if (columns == m_columns) return;
  m_columns = columns;
  for (MetricCard* card : m_cards) m_grid->removeWidget(card);
  for (int i = 0; i < cardCount(); ++i)
    m_grid->addWidget(m_cards[static_cast<std::size_t>(i)], i / columns, i % columns);
  for (int column = 0; column < cardCount(); ++column)
    m_grid->setColumnStretch(column, column < columns ? 1 : 0);
}

RunScope MetricsView::scope() const {
  return m_scope ? m_scope->scope() : RunScope::Document;
}

QString MetricsView::emptyText() const {
  if (!m_model.runs.empty()) return {};
  if (m_model.others > 0) return tr("No runs of this query yet. Run the query, or choose “All queries”.");
  return tr("Run a query to see latency, reuse, blocks and speed, run by run.");
}

void MetricsView::refresh() {
  m_model = metricsModel(*input(), m_samplers, scope());
  if (m_scope) m_scope->setOthers(m_model.others);
  const std::vector<MetricCardContent> contents = metricCards(m_model);
  for (std::size_t i = 0; i < m_cards.size() && i < contents.size(); ++i) {
    m_cards[i]->setContent(contents[i], input()->theme);
  }
  m_scroll->setVisible(!m_model.runs.empty());
  Q_EMIT summaryChanged(summaryOf(m_model));
  update();
}

void MetricsView::select(int request) {
  if (input() == nullptr) return;
  for (const RunMetrics& run : m_model.runs) {
    for (const RequestMetrics& metrics : run.requests) {
      if (static_cast<int>(metrics.request) != request) continue;
      Q_EMIT selectionWanted(selectionOf(run.run, metrics.request, metrics.node));
      return;
    }
  }
}

QString MetricsView::csv() const {
  if (input() == nullptr) return {};
  const MetricsModel model = metricsModel(*input(), scope());
  return model.runs.empty() ? QString() : metricsCsv(model);
}

void MetricsView::paintTo(QPainter& painter, const QSize& size) {
  if (input() != nullptr) refresh();
  if (paintIfEmpty(painter, size)) return;
  painter.fillRect(QRect(QPoint(), size), theme().color(Role::Surface));
  // If the cards would be too low for their texts, they are painted higher and scaled down.
  const auto rowsIn = [this](QSize room) { return (cardCount() + columnsFor(room) - 1) / columnsFor(room); };
  const auto missing = [&rowsIn](QSize room) {
    return double(rowsIn(room) * (kLeastCardHeight + kGap) + kGap) / std::max(1, room.height());
  };
  QSize room = size;
  while (missing(room) > 1) room = (QSizeF(room) * 1.1).toSize().expandedTo(room + QSize(1, 1));
  painter.save();
  painter.scale(double(size.width()) / room.width(), double(size.height()) / room.height());
  const int columns = columnsFor(room);
  const int rows = rowsIn(room);
  const int width = (room.width() - kGap) / columns - kGap;
  const int height = (room.height() - kGap) / rows - kGap;
  for (int i = 0; i < cardCount(); ++i) {
    m_cards[static_cast<std::size_t>(i)]->paint(
        painter, {kGap + i % columns * (width + kGap), kGap + i / columns * (height + kGap), width, height});
  }
  painter.restore();
}

void MetricsView::resizeEvent(QResizeEvent* event) {
  RunView::resizeEvent(event);
  arrange();
}

ViewInfo metricsRow() {
  return {.id = QStringLiteral("metrics"),
          .title = tr("Metrics"),
          .help = tr("Latency, reuse, blocks and speed, run by run"),
          .make = makeViewOf<MetricsView>,
          .needs = {Fact::CachedTokens, Fact::TokenTimes, Fact::Passes, Fact::BlockLookups, Fact::Pool},
          .places = {{LayoutId::Measure, Room::Low, Room::Low, 0, 0, 0, 100, true},
                     {LayoutId::Measure, Room::Middle, Room::Large, 0, 0, 0, 62, true}}};
}

}  // namespace spanscope::ui
