// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/timeline/timeline_view.h"

#include "ui/views/timeline/timeline_table.h"
#include "ui/words/tr.h"

#include <QComboBox>
#include <QFontMetrics>
#include <QHBoxLayout>
#include <QPainter>
#include <QStringList>
#include <QVBoxLayout>

namespace spanscope::ui {

TimelineView::TimelineView(QWidget* parent) : RunView(parent), m_table(new TimelineTable(this)) {
  setAccessibleName(tr("Timeline"));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(m_table);

  QHBoxLayout* row = titleRow();
  m_legend = new StateLegend({{BlockRole::Free, tr("loading"), tr("load")},
                              {BlockRole::Computed, tr("computing"), tr("compute")},
                              {BlockRole::Relocated, tr("reading relocated"), tr("relocated")},
                              {BlockRole::Hit, tr("decoding"), tr("decode")}},
                             row->parentWidget());
  m_scope = new QComboBox(row->parentWidget());
  m_scope->setAccessibleName(tr("Runs"));
  m_scope->setToolTip(tr("Choose the runs to show"));
  m_scope->addItem(tr("one run"));
  m_scope->addItem(tr("all runs"));
  row->addWidget(m_legend);
  row->addWidget(m_scope);
  connect(m_scope, &QComboBox::currentIndexChanged, this, [this](int index) { setAllRuns(index == 1); });
  connect(m_table, &TableView::rowSelected, this, &TimelineView::select);
}

void TimelineView::setAllRuns(bool all) {
  if (all == m_allRuns) return;
  m_allRuns = all;
  if (m_scope) m_scope->setCurrentIndex(all ? 1 : 0);
  if (input() != nullptr) refresh();
}

QString TimelineView::emptyText() const {
  if (!m_model.rows.empty()) return {};
  return tr("Run a query to see when each step waited, loaded blocks, computed its prompt and decoded.");
}

void TimelineView::refresh() {
  m_model = timelineModel(*input(), m_allRuns);
  m_table->setVisible(!m_model.rows.empty());
  m_table->setContent(m_model, input()->theme, input()->selection.request);
  if (m_legend) m_legend->setTheme(input()->theme);
  QString summary = m_model.runs.size() == 1 ? tr("run %1").arg(m_model.runs.front())
                    : m_model.runs.empty()   ? QString()
                                             : tr("%1 runs").arg(m_model.runs.size());
  // If the document has not run, the shown run belongs to another document.
  if (m_model.runs.size() == 1 && !input()->paths.contains(m_model.runs.front()))
    summary += tr(" · of another document");
  Q_EMIT summaryChanged(summary);
  update();
}

void TimelineView::select(int row) {
  const TimelineRow& shown = m_model.rows[static_cast<std::size_t>(row)];
  Q_EMIT selectionWanted(selectionOf(shown.run, shown.request, shown.node));
}

QString TimelineView::csv() const {
  if (input() == nullptr) return {};
  const TimelineModel model = timelineModel(*input(), m_allRuns);
  return model.rows.empty() ? QString() : timelineCsv(model);
}

void TimelineView::paintTo(QPainter& painter, const QSize& size) {
  if (input() != nullptr) refresh();
  if (paintIfEmpty(painter, size)) return;
  painter.fillRect(QRect(QPoint(), size), theme().color(Role::Surface));
  m_table->paintAll(painter, size);
}

ViewInfo timelineRow() {
  return {.id = QStringLiteral("timeline"),
          .title = tr("Timeline"),
          .help = tr("When each step waited, loaded blocks, computed its prompt and decoded"),
          .make = makeViewOf<TimelineView>,
          .needs = {Fact::StepTimes, Fact::TokenTimes, Fact::Passes},
          .places = {{LayoutId::Measure, Room::Low, Room::Low, 0, 0, 4, 0},
                     {LayoutId::Measure, Room::Middle, Room::Large, 0, 1, 0, 38}}};
}

namespace {

constexpr int kSwatch = 12;
constexpr int kGap = 3 * kSpace;
constexpr int kBriefGap = 2 * kSpace;
constexpr int kTextGap = 6;
constexpr int kHeight = 20;

}  // namespace

StateLegend::StateLegend(std::vector<Swatch> entries, QWidget* parent)
    : QWidget(parent), m_entries(std::move(entries)) {
  QStringList words;
  for (const Swatch& entry : m_entries) words.push_back(entry.text);
  setAccessibleName(tr("Legend: %1").arg(words.join(tr(", "))));
}

void StateLegend::setTheme(const Theme& theme) {
  if (theme == m_theme) return;
  m_theme = theme;
  updateGeometry();
  update();
}

QSize StateLegend::sizeWith(bool isBrief) const {
  const QFontMetrics metrics(m_theme.smallFont());
  int width = 0;
  for (const Swatch& entry : m_entries) {
    if (width > 0) width += isBrief ? kBriefGap : kGap;
    width += kSwatch + kTextGap + metrics.horizontalAdvance(isBrief ? entry.brief : entry.text);
  }
  return {width + 1, kHeight};
}

QSize StateLegend::sizeHint() const {
  return sizeWith(false);
}

QSize StateLegend::minimumSizeHint() const {
  return sizeWith(true);
}

void StateLegend::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setFont(m_theme.smallFont());
  const QFontMetrics metrics(m_theme.smallFont());
  const int top = (height() - kSwatch) / 2;
  const bool isBrief = width() < sizeWith(false).width();
  int x = 0;
  for (const Swatch& entry : m_entries) {
    const QString& text = isBrief ? entry.brief : entry.text;
    const QRectF box(x + 0.5, top + 0.5, kSwatch - 1, kSwatch - 1);
    painter.setPen(Qt::NoPen);
    painter.setBrush(m_theme.fill(entry.role));
    painter.drawRoundedRect(box, 2, 2);
    painter.setBrush(m_theme.pattern(entry.role));
    painter.setPen(QPen(m_theme.ink(entry.role), 1));
    painter.drawRoundedRect(box, 2, 2);
    x += kSwatch + kTextGap;
    const int width = metrics.horizontalAdvance(text);
    painter.setPen(m_theme.color(Role::TextSecond));
    painter.drawText(QRect(x, 0, width + 1, height()), Qt::AlignLeft | Qt::AlignVCenter, text);
    x += width + (isBrief ? kBriefGap : kGap);
  }
}

}  // namespace spanscope::ui
