// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/measure_page.h"

#include "ui/theme/theme.h"
#include "ui/views/common/table_painting.h"
#include "ui/views/common/text_painting.h"
#include "ui/views/common/text_tools.h"
#include "ui/words/tr.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace spanscope::ui {

namespace {

constexpr int kPageGap = 2 * kSpace;
constexpr int kLeastLine = 20;  // pixels

}  // namespace

MeasurePage::MeasurePage(InputParts parts, const QString& name, QWidget* parent)
    : InputView(parts, Pace::MayWait, parent),
      m_run(new QPushButton(this)),
      m_copy(new QToolButton(this)),
      m_doing(new QLabel(this)) {
  setAccessibleName(name);
  m_copy->setText(tr("Copy"));
  m_copy->setAutoRaise(true);
  m_copy->hide();
  m_doing->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  connect(m_run, &QPushButton::clicked, this,
          [this] { Q_EMIT commandWanted(m_isRunning ? QStringLiteral("run.stop:measurement") : command()); });
  connect(m_copy, &QToolButton::clicked, this, &MeasurePage::copy);
  setFocusProxy(m_run);
}

QWidget* MeasurePage::runButton() {
  return m_run;
}

void MeasurePage::setCopyHelp(const QString& help) {
  m_copy->setToolTip(help);
}

QVBoxLayout* MeasurePage::makeTexts(const QString& tableName, QWidget* results) {
  auto* texts = new QVBoxLayout;
  texts->setContentsMargins(0, 0, 0, 0);
  texts->setSpacing(kSpace);
  m_setup = new QLabel(results);
  m_setup->setWordWrap(true);
  m_setup->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_table = new ResultTable(tableName, results);
  m_remarks = new QLabel(results);
  m_remarks->setTextFormat(Qt::RichText);
  m_remarks->setWordWrap(true);
  m_remarks->setTextInteractionFlags(Qt::TextSelectableByMouse);
  texts->addWidget(m_setup);
  texts->addWidget(m_table);
  texts->addWidget(m_remarks);
  return texts;
}

QVBoxLayout* MeasurePage::layOut(const std::vector<QWidget*>& controls, QWidget* results) {
  auto* page = new QVBoxLayout(this);
  page->setContentsMargins(kPageGap, kPageGap, kPageGap, 0);
  page->setSpacing(kPageGap);
  auto* head = new QWidget(this);
  auto* row = new QHBoxLayout(head);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(kPageGap);
  for (QWidget* control : controls) row->addWidget(control);
  row->addWidget(m_doing, 1);
  row->addWidget(m_copy);
  page->addWidget(head);
  m_progress = makeMeasureProgress(this);
  page->addWidget(m_progress);
  m_scroll = makeResultScroll(results, this);
  page->addWidget(m_scroll, 1);
  m_scroll->hide();
  // Without results, the controls stay at the top, above the introduction.
  page->addStretch(0);
  return page;
}

void MeasurePage::showMeasured(const Shown& shown) {
  m_isKnown = shown.isKnown;
  m_isRunning = shown.isRunning;
  if (m_theme != theme()) {
    m_theme = theme();
    m_table->setTheme(theme());
    for (QLabel* label : {m_setup, m_remarks, m_doing}) {
      label->setFont(theme().smallFont());
      colorLabel(*label, theme(), Role::TextSecond);
    }
  }
  m_run->setText(shown.isRunning ? tr("Stop") : shown.run);
  m_run->setToolTip(shown.runHelp);
  m_doing->setText(shown.doing);
  m_progress->setVisible(shown.isRunning);
  m_progress->setValue(static_cast<int>(shown.progress * kProgressSteps));
  const bool hasRows = !shown.table.rows.empty();
  m_copy->setVisible(hasRows);
  m_setup->setText(shown.setup);
  m_scroll->setVisible(shown.isKnown);
  m_table->setVisible(hasRows);
  QStringList lines;
  for (const QString& warning : shown.warnings)
    lines += QStringLiteral("<span style='color:%1'>⚠ %2</span>")
                 .arg(theme().color(Role::ComputedInk).name(), warning.toHtmlEscaped());
  if (!shown.remarks.empty()) lines += shown.remarks.join(QLatin1Char(' ')).toHtmlEscaped();
  m_remarks->setText(lines.join(QStringLiteral("<br>")));
  m_remarks->setVisible(!lines.empty());
  if (hasRows) m_table->setTable(shown.table);
  update();
  Q_EMIT summaryChanged(shown.isRunning ? tr("%1 %").arg(static_cast<int>(100 * shown.progress)) : QString());
}

void MeasurePage::write(QPainter& painter, const QString& text, int width, int height, int& y) const {
  painter.setFont(theme().interfaceFont());
  painter.setPen(theme().color(Role::TextSecond));
  QRect place(kPageGap, y, width, height);
  painter.drawText(place, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, text, &place);
  y = std::max(y + kLeastLine, place.bottom() + kSpace);
}

void MeasurePage::copy() const {
  QGuiApplication::clipboard()->setText(text());
}

void MeasurePage::paintEvent(QPaintEvent* event) {
  InputView::paintEvent(event);
  if (m_isKnown) return;
  QPainter painter(this);
  const int top = m_run->parentWidget()->geometry().bottom();
  paintEmptyText(painter, rect().adjusted(0, top, 0, 0), introduction(), theme());
}

QProgressBar* makeMeasureProgress(QWidget* parent) {
  auto* progress = new QProgressBar(parent);
  progress->setAccessibleName(tr("Progress of the measurement"));
  progress->setRange(0, kProgressSteps);
  progress->setTextVisible(false);
  progress->setFixedHeight(kSpace);
  progress->hide();
  return progress;
}

QScrollArea* makeResultScroll(QWidget* results, QWidget* parent) {
  auto* scroll = new QScrollArea(parent);
  scroll->setWidget(results);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setFocusPolicy(Qt::NoFocus);
  scroll->viewport()->setAutoFillBackground(false);
  results->setAutoFillBackground(false);
  return scroll;
}

ResultTable::ResultTable(const QString& name, QWidget* parent)
    : TableView(name, RowOrder::Sortable, parent), m_content(new PaintedTableModel(this)) {
  setModel(m_content);
  setRowHeight(kResultRowHeight);
  horizontalHeader()->setStretchLastSection(false);
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setSizeAdjustPolicy(QAbstractScrollArea::AdjustIgnored);
}

void ResultTable::setTheme(const Theme& theme) {
  TableView::setTheme(theme);
  horizontalHeader()->setFont(theme.smallFont());
}

void ResultTable::setTable(PaintedTable table) {
  m_content->setTable(std::move(table));
  fit();
}

void ResultTable::resizeEvent(QResizeEvent* event) {
  TableView::resizeEvent(event);
  fit();
}

void ResultTable::fit() {
  const int columns = m_content->columnCount();
  if (columns == 0) return;
  resizeColumnsToContents();
  int wanted = 0;
  for (int c = 0; c < columns; ++c) wanted += columnWidth(c);
  // If columns are a few pixels too wide, the space around numbers shrinks. A scroll bar would hide a row.
  constexpr int kMostOff = 6;
  int spare = viewport()->width() - wanted;
  if (spare > 0 || -spare <= kMostOff * columns) {
    for (int c = 0; c < columns; ++c)
      setColumnWidth(c, columnWidth(c) + spare * (c + 1) / columns - spare * c / columns);
    spare = 0;
  }
  const int bar = spare < 0 ? horizontalScrollBar()->sizeHint().height() : 0;
  setFixedHeight(horizontalHeader()->sizeHint().height() + m_content->rowCount() * kResultRowHeight + bar +
                 2);
}

}  // namespace spanscope::ui
