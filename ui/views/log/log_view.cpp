// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/log/log_view.h"

#include "engine/trace/report.h"
#include "ui/session/run_list.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/segment_names.h"
#include "ui/views/common/table_view.h"
#include "ui/views/common/text_painting.h"
#include "ui/words/table_words.h"
#include "ui/words/tr.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QPainter>
#include <QPixmap>
#include <QScrollBar>
#include <QVBoxLayout>

#include <algorithm>

namespace spanscope::ui {

namespace {

/// Severities differ by shape: a dot, a triangle, a cross.
QPixmap severityPicture(Severity severity, const Theme& theme) {
  constexpr int kSize = 12;
  constexpr int kScale = 2;
  QPixmap picture(kSize * kScale, kSize * kScale);
  picture.setDevicePixelRatio(kScale);
  picture.fill(Qt::transparent);
  QPainter painter(&picture);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  switch (severity) {
    case Severity::Note:
      painter.setBrush(theme.color(Role::TextThird));
      painter.drawEllipse(QRectF(4, 4, 4, 4));
      break;
    case Severity::Warning:
      painter.setBrush(theme.color(Role::ComputedInk));
      painter.drawPolygon(QPolygonF({QPointF(6, 1), QPointF(11, 11), QPointF(1, 11)}));
      break;
    case Severity::Error:
      painter.setPen(QPen(theme.color(Role::Error), 2.5, Qt::SolidLine, Qt::RoundCap));
      painter.drawLine(QPointF(2, 2), QPointF(10, 10));
      painter.drawLine(QPointF(10, 2), QPointF(2, 10));
      break;
  }
  return picture;
}

}  // namespace

std::optional<LogLine> logLine(const ViewInput& input, const trace::Event& event) {
  const std::optional<Severity> severity = trace::severityOf(event);
  if (!severity) return std::nullopt;
  const auto stepName = [&input, &event](StepIndex step) {
    return StepNames(input, input.state().progress()).of(event.run, step);
  };
  return LogLine{.time = event.time,
                 .severity = *severity,
                 .run = event.run,
                 .text = eventText(trace::wordsOf(event), stepName)};
}

LogLine eventLine(const trace::Event& event) {
  QString text = QString::fromStdString(trace::describe(event));
  // The number and the time have their own columns.
  const qsizetype first = text.indexOf(QLatin1Char(' '));
  const qsizetype second = first < 0 ? -1 : text.indexOf(QLatin1Char(' '), first + 1);
  if (second > 0) text = text.left(first) + text.mid(second);
  return {.time = event.time,
          .severity = trace::severityOf(event).value_or(Severity::Note),
          .run = event.run,
          .text = text};
}

QString severityText(Severity severity) {
  switch (severity) {
    case Severity::Note:
      return tr("note");
    case Severity::Warning:
      return tr("warning");
    case Severity::Error:
      return tr("error");
  }
  return {};
}

LogModel::LogModel(QObject* parent) : QAbstractTableModel(parent) {}

bool LogModel::isShown(const trace::Event& event) const {
  const std::optional<Severity> severity = trace::severityOf(event);
  return severity && *severity >= m_options.least;
}

void LogModel::setInput(const ViewInput& input) {
  const bool sameTrace = m_input && m_input->trace == input.trace;
  m_names.reset();
  if (!sameTrace) {
    beginResetModel();
    m_input = input;
    rebuild();
    endResetModel();
    return;
  }
  const std::size_t before = m_input->position;
  if (input.position < before) {
    std::size_t kept = input.position;
    if (!m_options.allEvents) {
      kept = static_cast<std::size_t>(std::lower_bound(m_rows.begin(), m_rows.end(), input.position) -
                                      m_rows.begin());
    }
    const int last = rowCount() - 1;
    const bool removes = static_cast<int>(kept) <= last;
    if (removes) beginRemoveRows({}, static_cast<int>(kept), last);
    if (!m_options.allEvents) m_rows.resize(kept);
    m_seen = input.position;
    m_input = input;
    if (removes) endRemoveRows();
    return;
  }
  std::vector<std::size_t> added;
  for (std::size_t i = m_seen; !m_options.allEvents && i < input.position; ++i) {
    if (isShown(input.trace->event(i))) added.push_back(i);
  }
  const int first = rowCount();
  const int count = static_cast<int>(m_options.allEvents ? input.position - before : added.size());
  if (count > 0) beginInsertRows({}, first, first + count - 1);
  m_rows.insert(m_rows.end(), added.begin(), added.end());
  m_seen = input.position;
  m_input = input;
  if (count > 0) endInsertRows();
}

void LogModel::setOptions(const LogOptions& options) {
  if (options == m_options) return;
  beginResetModel();
  m_options = options;
  rebuild();
  endResetModel();
}

void LogModel::rebuild() {
  m_rows.clear();
  m_seen = m_input ? m_input->position : 0;
  if (m_options.allEvents) return;
  for (std::size_t i = 0; i < m_seen; ++i) {
    if (isShown(m_input->trace->event(i))) m_rows.push_back(i);
  }
}

int LogModel::rowCount(const QModelIndex& parent) const {
  if (parent.isValid() || !m_input) return 0;
  return static_cast<int>(m_options.allEvents ? m_input->position : m_rows.size());
}

int LogModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount;
}

std::size_t LogModel::eventIndex(int row) const {
  const auto index = static_cast<std::size_t>(row);
  return m_options.allEvents ? index : m_rows[index];
}

LogLine LogModel::line(int row) const {
  const trace::Event& event = m_input->trace->event(eventIndex(row));
  if (m_options.allEvents) {
    return {.time = event.time,
            .severity = trace::severityOf(event).value_or(Severity::Note),
            .run = event.run,
            .text = names().of(event)};
  }
  return logLine(*m_input, event).value_or(LogLine{.time = event.time, .run = event.run, .text = {}});
}

EventNames& LogModel::names() const {
  if (!m_names) m_names = std::make_unique<EventNames>(*m_input);
  return *m_names;
}

QString LogModel::exactLine(int row) const {
  return exactText(m_input->trace->event(eventIndex(row)));
}

QVariant LogModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid) || !m_input)
    return {};
  const auto textOf = [this](const LogLine& line, int column) -> QString {
    switch (column) {
      case Time:
        if (isPredicted(*m_input->trace)) return {};
        return tr("%1 s").arg(QString::number(static_cast<double>(line.time) * 1e-9, 'f', 6));
      case Kind:
        return severityText(line.severity);
      case Run:
        return line.run == 0 ? QString() : QString::number(line.run);
      case Text:
        return line.text;
      default:
        return {};
    }
  };
  switch (role) {
    case Qt::DisplayRole:
      return textOf(line(index.row()), index.column());
    case Qt::ToolTipRole:
      if (index.column() != Text) return {};
      return m_options.allEvents ? line(index.row()).text + QLatin1Char('\n') + exactLine(index.row())
                                 : line(index.row()).text;
    case Qt::DecorationRole:
      return index.column() == Kind ? QVariant(severityPicture(line(index.row()).severity, m_input->theme))
                                    : QVariant();
    case Qt::UserRole:
      return static_cast<int>(line(index.row()).severity);
    case MonoRole:
      return index.column() == Time || index.column() == Run;
    case InkRole: {
      const Severity severity = line(index.row()).severity;
      const bool isWarning = severity == Severity::Warning && index.column() != Time;
      return static_cast<int>(severity == Severity::Error ? Role::Error
                              : isWarning                 ? Role::ComputedInk
                              : index.column() == Text    ? Role::Text
                                                          : Role::TextThird);
    }
    case Qt::TextAlignmentRole:
      return int((index.column() == Time || index.column() == Run ? Qt::AlignRight : Qt::AlignLeft) |
                 Qt::AlignVCenter);
    case Qt::AccessibleTextRole: {
      const LogLine shown = line(index.row());
      return index.column() == Text ? tr("%1: %2").arg(severityText(shown.severity), shown.text)
                                    : textOf(shown, index.column());
    }
    default:
      return {};
  }
}

QVariant LogModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  switch (section) {
    case Time:
      return tr("Time");
    case Kind:
      return tr("Kind");
    case Run:
      return tr("Run");
    case Text:
      return tr("What happened");
    default:
      return {};
  }
}

std::size_t LogModel::warnings() const {
  return m_input ? static_cast<std::size_t>(m_input->state().progress().warnings) : 0;
}

std::size_t LogModel::errors() const {
  return m_input ? static_cast<std::size_t>(m_input->state().progress().errors) : 0;
}

QString LogModel::csv() const {
  QString text = csvLine({tr("time s"), tr("kind"), tr("run"), tr("what happened")});
  for (int row = 0; row < rowCount(); ++row) {
    const LogLine shown = m_options.allEvents ? eventLine(m_input->trace->event(eventIndex(row))) : line(row);
    text += csvLine({QString::number(static_cast<double>(shown.time) * 1e-9, 'f', 9),
                     severityText(shown.severity), shown.run == 0 ? QString() : QString::number(shown.run),
                     shown.text});
  }
  return text;
}

namespace {

constexpr int kPaintedRows = 200;

QString whatWillStandHere() {
  return LogView::tr("Messages, runs and steps appear here during a run. Run a query to see the first line.");
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
