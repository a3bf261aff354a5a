// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/log/log_model.h"

#include "engine/trace/fidelity_figures.h"
#include "engine/trace/report.h"
#include "ui/views/attention/attention_model.h"
#include "ui/views/common/csv_line.h"
#include "ui/views/common/request_names.h"
#include "ui/words/tr.h"

#include <QFont>
#include <QPainter>
#include <QPixmap>

#include <algorithm>
#include <span>

namespace spanscope::ui {
namespace {

/// A text on one line, cut where it gets long.
QString shortText(const std::string& text) {
  constexpr qsizetype kMost = 160;
  QString line = QString::fromStdString(text).simplified();
  if (line.size() > kMost) line = line.left(kMost - 1) + QStringLiteral("…");
  return line;
}

QString stepOf(const ViewInput& input, const trace::Event& event, StepIndex step) {
  return StepNames(input, input.state().progress()).of(event.run, step);
}

/// What a lifecycle event says; the severity is set where it is more than a note.
struct Teller {
  const ViewInput& input;
  const trace::Event& event;
  LogLine& line;

  bool operator()(const trace::SessionStarted& payload) const {
    line.text = tr("Session started: %1, %2")
                    .arg(QString::fromStdString(payload.model), QString::fromStdString(payload.backend));
    return true;
  }
  bool operator()(const trace::RunStarted& payload) const {
    line.text = tr("Run %1 started: policy %2, seed %3")
                    .arg(event.run)
                    .arg(QString::fromStdString(payload.policy))
                    .arg(payload.seed);
    return true;
  }
  bool operator()(const trace::RunFinished& payload) const {
    switch (payload.outcome) {
      case trace::RunOutcome::Finished:
        line.text = tr("Run %1 finished: %2").arg(event.run).arg(shortText(payload.answer));
        break;
      case trace::RunOutcome::Stopped:
        line.text = tr("Run %1 was stopped").arg(event.run);
        line.severity = Severity::Warning;
        break;
      case trace::RunOutcome::Failed:
        line.text = tr("Run %1 failed").arg(event.run);
        line.severity = Severity::Error;
        break;
    }
    return true;
  }
  bool operator()(const trace::PlanMade& payload) const {
    line.text = payload.steps.size() == 1 ? tr("Plan made: 1 step")
                                          : tr("Plan made: %1 steps").arg(payload.steps.size());
    return true;
  }
  bool operator()(const trace::FragmentsRetrieved& payload) const {
    const auto inPrompt =
        std::count_if(payload.fragments.begin(), payload.fragments.end(),
                      [](const trace::FragmentInfo& fragment) { return fragment.inPrompt; });
    line.text = tr("Retrieved %1 fragments of %2 documents for %3")
                    .arg(inPrompt)
                    .arg(payload.documents)
                    .arg(shortText(payload.question));
    return true;
  }
  bool operator()(const trace::StepStarted& payload) const {
    line.text = tr("%1 started as request %2").arg(stepOf(input, event, payload.step)).arg(event.request);
    return true;
  }
  bool operator()(const trace::StepFinished& payload) const {
    const QString name = stepOf(input, event, payload.step);
    switch (payload.outcome) {
      case trace::StepOutcome::EndToken:
        line.text = tr("%1 finished: %2").arg(name, shortText(payload.text));
        break;
      case trace::StepOutcome::TokenLimit:
        line.text = tr("%1 reached its token limit: %2").arg(name, shortText(payload.text));
        break;
      case trace::StepOutcome::ContextLimit:
        line.text = tr("%1 filled the model's context: %2").arg(name, shortText(payload.text));
        break;
      case trace::StepOutcome::Stopped:
        line.text = tr("%1 was stopped").arg(name);
        line.severity = Severity::Warning;
        break;
      case trace::StepOutcome::Failed:
        line.text = tr("%1 failed").arg(name);
        line.severity = Severity::Error;
        break;
    }
    return true;
  }
  bool operator()(const trace::RequestDeferred& payload) const {
    line.text = tr("Request %1 waits: %2").arg(event.request).arg(QString::fromStdString(payload.reason));
    return true;
  }
  bool operator()(const trace::RequestPreempted& payload) const {
    line.text = payload.requester == event.request
                    ? tr("Request %1 gave its blocks back: older requests need them").arg(event.request)
                    : tr("Request %1 gave its blocks back: request %2 needs room")
                          .arg(event.request)
                          .arg(payload.requester);
    return true;
  }
  bool operator()(const trace::CacheCleared& /*payload*/) const {
    line.text = tr("The cache was emptied");
    return true;
  }
  bool operator()(const trace::FidelityMeasured& payload) const {
    const trace::FidelityMeasured* one = &payload;
    line.text = tr("Fidelity of run %1 measured: %2")
                    .arg(event.run)
                    .arg(QString::fromStdString(trace::fidelityText(trace::fidelityOf(std::span(&one, 1)))));
    return true;
  }
  bool operator()(const trace::MessageLogged& payload) const {
    line.text = QString::fromStdString(payload.text);
    line.severity = payload.severity;
    return true;
  }
  bool operator()(const trace::Snapshot& payload) const {
    if (payload.lost == 0) return false;
    line.text = tr("%1 events were lost; a snapshot stands for them").arg(payload.lost);
    line.severity = Severity::Warning;
    return true;
  }
  bool operator()(const trace::AttentionLeftOut& payload) const {
    line.text = leftOutText(payload);
    line.severity = Severity::Warning;
    return true;
  }
  template <class T>
  bool operator()(const T& /*payload*/) const {
    return false;
  }

  Q_DECLARE_TR_FUNCTIONS(spanscope::ui::Teller)
};

/// Whether an event has a line of its own, and how severe, without making its text.
std::optional<Severity> severityOf(const trace::Event& event) {
  if (const auto* message = std::get_if<trace::MessageLogged>(&event.payload)) return message->severity;
  if (const auto* run = std::get_if<trace::RunFinished>(&event.payload)) {
    return run->outcome == trace::RunOutcome::Failed    ? Severity::Error
           : run->outcome == trace::RunOutcome::Stopped ? Severity::Warning
                                                        : Severity::Note;
  }
  if (const auto* step = std::get_if<trace::StepFinished>(&event.payload)) {
    return step->outcome == trace::StepOutcome::Failed    ? Severity::Error
           : step->outcome == trace::StepOutcome::Stopped ? Severity::Warning
                                                          : Severity::Note;
  }
  if (const auto* snapshot = std::get_if<trace::Snapshot>(&event.payload)) {
    if (snapshot->lost == 0) return std::nullopt;
    return Severity::Warning;
  }
  if (std::holds_alternative<trace::AttentionLeftOut>(event.payload)) return Severity::Warning;
  const bool told = std::holds_alternative<trace::SessionStarted>(event.payload) ||
                    std::holds_alternative<trace::RunStarted>(event.payload) ||
                    std::holds_alternative<trace::PlanMade>(event.payload) ||
                    std::holds_alternative<trace::FragmentsRetrieved>(event.payload) ||
                    std::holds_alternative<trace::StepStarted>(event.payload) ||
                    std::holds_alternative<trace::RequestDeferred>(event.payload) ||
                    std::holds_alternative<trace::RequestPreempted>(event.payload) ||
                    std::holds_alternative<trace::FidelityMeasured>(event.payload) ||
                    std::holds_alternative<trace::CacheCleared>(event.payload);
  return told ? std::optional<Severity>(Severity::Note) : std::nullopt;
}

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
  LogLine line{.time = event.time, .run = event.run, .text = {}};
  if (!std::visit(Teller{input, event, line}, event.payload)) return std::nullopt;
  return line;
}

LogLine eventLine(const trace::Event& event) {
  QString text = QString::fromStdString(trace::describe(event));
  // The number and the time stand in columns of their own.
  const qsizetype first = text.indexOf(QLatin1Char(' '));
  const qsizetype second = first < 0 ? -1 : text.indexOf(QLatin1Char(' '), first + 1);
  if (second > 0) text = text.left(first) + text.mid(second);
  return {.time = event.time,
          .severity = severityOf(event).value_or(Severity::Note),
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
  const std::optional<Severity> severity = severityOf(event);
  return severity && *severity >= m_options.least;
}

void LogModel::setInput(const ViewInput& input) {
  const bool sameTrace = m_input && m_input->trace == input.trace;
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
  if (m_options.allEvents) return eventLine(event);
  return logLine(*m_input, event).value_or(LogLine{.time = event.time, .run = event.run, .text = {}});
}

QVariant LogModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid) || !m_input)
    return {};
  const auto textOf = [](const LogLine& line, int column) -> QString {
    switch (column) {
      case Time:
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
      return index.column() == Text ? QVariant(line(index.row()).text) : QVariant();
    case Qt::DecorationRole:
      return index.column() == Kind ? QVariant(severityPicture(line(index.row()).severity, m_input->theme))
                                    : QVariant();
    case Qt::UserRole:
      return static_cast<int>(line(index.row()).severity);
    case Qt::FontRole:
      return index.column() == Time || index.column() == Run || m_options.allEvents
                 ? QVariant(m_input->theme.monoFont())
                 : QVariant(m_input->theme.interfaceFont());
    case Qt::ForegroundRole: {
      const Severity severity = line(index.row()).severity;
      if (severity == Severity::Error) return m_input->theme.color(Role::Error);
      if (severity == Severity::Warning && index.column() != Time) {
        return m_input->theme.color(Role::ComputedInk);
      }
      return m_input->theme.color(index.column() == Text ? Role::Text : Role::TextThird);
    }
    case Qt::TextAlignmentRole:
      return QVariant(index.column() == Time || index.column() == Run ? Qt::AlignRight | Qt::AlignVCenter
                                                                      : Qt::AlignLeft | Qt::AlignVCenter);
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
    const LogLine shown = line(row);
    text += csvLine({QString::number(static_cast<double>(shown.time) * 1e-9, 'f', 9),
                     severityText(shown.severity), shown.run == 0 ? QString() : QString::number(shown.run),
                     shown.text});
  }
  return text;
}

}  // namespace spanscope::ui
