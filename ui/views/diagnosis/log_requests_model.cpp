// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/diagnosis/log_requests_model.h"

#include "engine/doctor/causes.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/table_view.h"
#include "ui/words/metric_words.h"
#include "ui/words/table_words.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <utility>

namespace spanscope::ui {
namespace {

QString logText(const std::string& text) {
  return QString::fromStdString(text);
}

/// A number that is known only at the end of the diagnosis.
QString notYetText() {
  return QStringLiteral("…");
}

bool isLogNumber(int column) {
  switch (column) {
    case LogRequestsModel::Turn:
    case LogRequestsModel::Lost:
    case LogRequestsModel::Cached:
    case LogRequestsModel::Could:
    case LogRequestsModel::Reported:
    case LogRequestsModel::Seconds:
    case LogRequestsModel::Price:
      return true;
    default:
      return false;
  }
}

const doctor::Cause* mainCauseOf(const doctor::RequestReport& request) {
  return request.findings.empty() ? nullptr : &doctor::causeOf(request.findings.front().finding.cause);
}

}  // namespace

void LogRequestsModel::setState(const std::shared_ptr<const LogState>& state, const Theme& theme) {
  beginResetModel();
  m_state = state;
  m_theme = theme;
  m_rows.clear();
  const doctor::LogReport& report = *state->report;
  m_rows.reserve(report.requests.size());
  for (const std::vector<std::size_t>& conversation : doctor::byConversation(report))
    for (std::size_t turn = 0; turn < conversation.size(); ++turn)
      m_rows.push_back({.request = conversation[turn], .turn = turn});
  endResetModel();
}

const doctor::RequestReport& LogRequestsModel::requestAt(int row) const {
  return m_state->report->requests[requestOf(row)];
}

int LogRequestsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int LogRequestsModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount;
}

int LogRequestsModel::rowOf(std::optional<std::size_t> request) const {
  if (!request) return -1;
  const auto found =
      std::find_if(m_rows.begin(), m_rows.end(), [&](const Row& row) { return row.request == *request; });
  return found == m_rows.end() ? -1 : static_cast<int>(found - m_rows.begin());
}

QString LogRequestsModel::text(int row, int column) const {
  const doctor::RequestReport& request = requestAt(row);
  const bool isKnown = m_state->isComplete() || m_state->stage == LogState::Stage::Stopped;
  const doctor::Cause* cause = mainCauseOf(request);
  switch (column) {
    case Turn:
      return QStringLiteral("%1.%2")
          .arg(request.conversation + 1)
          .arg(m_rows[static_cast<std::size_t>(row)].turn + 1);
    case Cause:
      if (!request.refusal.empty()) return tr("Failed with %1. Not counted.").arg(logText(request.refusal));
      if (!request.failure.empty())
        return tr("The prompt cannot be rendered: %1").arg(logText(request.failure));
      return cause == nullptr ? QStringLiteral("–") : causeWord(cause->name);
    case Lost:
      return isKnown ? QString::number(request.lost) : notYetText();
    case Difference:
      return logText(doctor::rowOf(*m_state->report, request).difference);
    case Change:
      return logText(doctor::rowOf(*m_state->report, request).change);
    case Cached:
      return tr("%1 of %2").arg(request.cached).arg(request.prompt);
    case Could:
      return isKnown ? QString::number(request.couldBeCached()) : notYetText();
    case Reported:
      return request.reported ? QString::number(*request.reported) : QStringLiteral("–");
    case Seconds:
      if (!isKnown) return notYetText();
      return durationText(static_cast<double>(request.lost) /
                          m_state->settings.prices.tokensPerSecond.value_or(1));
    case Price:
      if (!isKnown) return notYetText();
      return QString::number(
          static_cast<double>(request.lost) * m_state->settings.prices.perMillion.value_or(0) / 1e6, 'f', 5);
    case Help:
      return cause == nullptr ? QString() : causeWord(cause->cure);
    case Place:
      return logText(doctor::rowOf(*m_state->report, request).place);
    default:
      return {};
  }
}

QVariant LogRequestsModel::raw(int row, int column) const {
  const doctor::RequestReport& request = requestAt(row);
  switch (column) {
    case Turn:
    case Place:
      return row;
    case Lost:
    case Seconds:
    case Price:
      return static_cast<qulonglong>(request.lost);
    case Difference:
      return static_cast<qulonglong>(request.differenceSection.empty() ? request.prompt : request.common);
    case Cached:
      return static_cast<qulonglong>(request.cached);
    case Could:
      return static_cast<qulonglong>(request.couldBeCached());
    case Reported:
      return static_cast<qlonglong>(request.reported.value_or(-1));
    default:
      return {};
  }
}

QVariant LogRequestsModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid)) return {};
  const int row = index.row();
  const int column = index.column();
  switch (role) {
    case Qt::DisplayRole:
      return text(row, column);
    case RawRole:
      return raw(row, column);
    case Qt::TextAlignmentRole:
      return int((isLogNumber(column) && column != Turn ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case MonoRole:
      return isLogNumber(column) || column == Change || column == Place;
    case InkRole: {
      const doctor::RequestReport& request = requestAt(row);
      if ((!request.failure.empty() || !request.refusal.empty()) && column == Cause)
        return static_cast<int>(Role::Error);
      const bool isMain = column == Cause || column == Lost || column == Turn;
      return static_cast<int>(isMain && !request.findings.empty() ? Role::Text : Role::TextSecond);
    }
    case BoldRole:
      return column == Turn && m_rows[static_cast<std::size_t>(row)].turn == 0;
    case Qt::BackgroundRole:
      // Neighbouring conversations have different backgrounds.
      return requestAt(row).conversation % 2 == 1 ? QVariant(QBrush(m_theme.color(Role::Canvas)))
                                                  : QVariant();
    case Qt::ToolTipRole:
      if (column != Cause) return {};
      {
        QStringList lines;
        for (const doctor::NamedFinding& one : requestAt(row).findings)
          lines << tr("%1 (%2)").arg(causeWord(doctor::causeOf(one.finding.cause).sentence),
                                     logText(one.section));
        return lines.isEmpty() ? QVariant() : QVariant(lines.join(QLatin1Char('\n')));
      }
    default:
      return {};
  }
}

QVariant LogRequestsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole)
    return int((isLogNumber(section) && section != Turn ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  if (role != Qt::DisplayRole && role != Qt::ToolTipRole) return {};
  const bool isHelp = role == Qt::ToolTipRole;
  switch (section) {
    case Turn:
      return isHelp ? tr("Number of the conversation, and number of the request in the conversation")
                    : tr("Turn");
    case Cause:
      return isHelp ? tr("Why the server did not reuse more tokens") : tr("Cause");
    case Lost:
      return isHelp ? tr("Tokens that the server computed, but could have reused") : tr("Lost");
    case Difference:
      return isHelp ? tr("The first token that differs from the earlier prompt") : tr("First difference");
    case Change:
      return isHelp ? tr("The change, e.g. earlier text → new text") : tr("Change");
    case Cached:
      return isHelp ? tr("Cached tokens by the caching rules of the server, and all tokens of the prompt")
                    : metricShortTitle("cached-tokens");
    case Could:
      return isHelp ? tr("Cached tokens if you make the change in “Change that helps”") : tr("Could be");
    case Reported:
      return isHelp ? tr("Cached tokens that the server reported in the log") : tr("Reported");
    case Seconds:
      return isHelp ? tr("Time to compute the lost tokens") : tr("Time");
    case Price:
      return isHelp ? tr("Price of computing the lost tokens") : tr("Price");
    case Help:
      return tr("Change that helps");
    case Place:
      return isHelp ? tr("File and line of the request") : tr("Place");
    default:
      return {};
  }
}

QString LogRequestsModel::csv() const {
  return m_state == nullptr || m_rows.empty() ? QString() : logText(doctor::csvReport(*m_state->report));
}

}  // namespace spanscope::ui
