// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/log/log_view.h"

#include "ui/views/common/table_view.h"
#include "ui/views/common/text_painting.h"
#include "ui/words/tr.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QPainter>
#include <QScrollBar>
#include <QVBoxLayout>

#include <algorithm>

namespace spanscope::ui {
namespace {

constexpr int kPaintedRows = 200;

QString whatWillStandHere() {
  return LogView::tr("Messages, runs and steps are listed here as they happen.");
}

}  // namespace

LogView::LogView(QWidget* parent)
    : RunView(parent),
      m_model(new LogModel(this)),
      m_table(new TableView(tr("What happened"), RowOrder::Fixed, this)) {
  setAccessibleName(tr("Log"));
  m_table->setAccessibleDescription(tr("Press Return to go to the moment of the line."));
  m_table->setModel(m_model);
  QHeaderView* header = m_table->horizontalHeader();
  header->resizeSection(LogModel::Time, 108);
  header->resizeSection(LogModel::Kind, 104);
  header->resizeSection(LogModel::Run, 56);
  m_table->hide();
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(m_table);

  QHBoxLayout* row = titleRow();
  m_all = new QCheckBox(tr("all events"), row->parentWidget());
  m_all->setToolTip(tr("Show every event of the trace"));
  m_least = new QComboBox(row->parentWidget());
  m_least->setAccessibleName(tr("Severity"));
  m_least->addItem(tr("everything"), static_cast<int>(Severity::Note));
  m_least->addItem(tr("warnings and errors"), static_cast<int>(Severity::Warning));
  m_least->addItem(tr("errors"), static_cast<int>(Severity::Error));
  row->addWidget(m_least);
  row->addWidget(m_all);
  connect(m_all, &QCheckBox::toggled, this, [this](bool all) {
    LogOptions options = m_model->options();
    options.allEvents = all;
    setOptions(options);
  });
  connect(m_least, &QComboBox::currentIndexChanged, this, [this] {
    LogOptions options = m_model->options();
    options.least = static_cast<Severity>(m_least->currentData().toInt());
    setOptions(options);
  });
  connect(m_table, &QTableView::clicked, this, [this](const QModelIndex& index) { select(index.row()); });
  connect(m_table, &TableView::rowActivated, this, &LogView::open);
}

void LogView::setOptions(const LogOptions& options) {
  m_model->setOptions(options);
  if (m_all) m_all->setChecked(options.allEvents);
  if (m_least) {
    m_least->setCurrentIndex(m_least->findData(static_cast<int>(options.least)));
    m_least->setEnabled(!options.allEvents);
  }
  m_table->scrollToBottom();
  showCounts();
}

QString LogView::emptyText() const {
  return (input() != nullptr && input()->position > 0) ? QString() : whatWillStandHere();
}

void LogView::refresh() {
  const QScrollBar* bar = m_table->verticalScrollBar();
  const bool follows = bar->value() >= bar->maximum();
  m_model->setInput(*input());
  m_table->setVisible(input()->position > 0);
  m_table->setTheme(theme());
  if (follows) m_table->scrollToBottom();
  showCounts();
  update();
}

void LogView::showCounts() {
  const std::size_t errors = m_model->errors();
  const std::size_t warnings = m_model->warnings();
  QString text = m_model->rowCount() == 1 ? tr("1 line") : tr("%1 lines").arg(m_model->rowCount());
  if (warnings > 0) text += warnings == 1 ? tr(" · 1 warning") : tr(" · %1 warnings").arg(warnings);
  if (errors > 0) text += errors == 1 ? tr(" · 1 error") : tr(" · %1 errors").arg(errors);
  Q_EMIT summaryChanged(m_model->rowCount() == 0 ? QString() : text);
}

void LogView::select(int row) {
  if (input() == nullptr || row < 0 || row >= m_model->rowCount()) return;
  const trace::Event& event = input()->trace->event(m_model->eventIndex(row));
  if (event.request != 0) Q_EMIT selectionWanted(selectionOf(event.run, event.request, event.node));
}

void LogView::open(int row) {
  if (row < 0 || row >= m_model->rowCount()) return;
  Q_EMIT positionWanted(m_model->eventIndex(row) + 1);
}

QString LogView::csv() const {
  if (input() == nullptr) return {};
  LogModel whole;
  whole.setOptions(m_model->options());
  whole.setInput(*input());
  return whole.rowCount() == 0 ? QString() : whole.csv();
}

void LogView::paintTo(QPainter& painter, const QSize& size) {
  if (input() != nullptr) m_model->setInput(*input());
  const int count = m_model->rowCount();
  if (count == 0) {
    painter.fillRect(QRect(QPoint(), size), theme().color(Role::Surface));
    paintEmptyText(painter, QRect(QPoint(), size), whatWillStandHere(), theme());
    return;
  }
  // Only the newest lines: a picture of a million lines is unreadable.
  paintTableInto(painter, size, paintedTable(*m_model, {3, 2, 1, 14}, std::max(0, count - kPaintedRows)),
                 theme());
}

ViewInfo logRow() {
  return {.id = QStringLiteral("log"),
          .title = tr("Log"),
          .help = tr("Show messages, runs and steps, or every event of the trace"),
          .make = makeViewOf<LogView>,
          .places = {{LayoutId::Author, Room::Low, Room::Low, 2, 1, 2, 0},
                     {LayoutId::Author, Room::Middle, Room::Large, 1, 1, 1, 0},
                     {LayoutId::Measure, Room::Low, Room::Low, 1, 0, 2, 0},
                     {LayoutId::Measure, Room::Middle, Room::Large, 1, 1, 1, 0}}};
}

}  // namespace spanscope::ui
