// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/problems/problem_list_model.h"

#include "ui/words/tr.h"

#include <algorithm>
#include <utility>

namespace spanscope::ui {

std::vector<Problem> listedProblems(const document::Document& document, std::vector<Problem> problems) {
  if (document.size() > 0) return problems;
  const std::vector<Problem> emptiness = findProblems(document::Document());
  std::erase_if(problems, [&emptiness](const Problem& problem) {
    return std::find(emptiness.begin(), emptiness.end(), problem) != emptiness.end();
  });
  return problems;
}

std::vector<ProblemRow> problemRows(const document::Document& document, std::vector<Problem> problems) {
  std::vector<ProblemRow> rows;
  for (Problem& problem : listedProblems(document, std::move(problems))) {
    const document::DocumentNode* node = document.find(problem.node);
    rows.push_back({std::move(problem), node == nullptr ? QString() : nodeLabel(*node)});
  }
  return rows;
}

QString problemSummary(const std::vector<ProblemRow>& rows) {
  const auto errors = std::count_if(rows.begin(), rows.end(), [](const ProblemRow& row) {
    return row.problem.severity == Severity::Error;
  });
  const auto warnings = static_cast<std::ptrdiff_t>(rows.size()) - errors;
  QStringList parts;
  if (errors > 0) parts += errors == 1 ? tr("1 error") : tr("%1 errors").arg(errors);
  if (warnings > 0) parts += warnings == 1 ? tr("1 warning") : tr("%1 warnings").arg(warnings);
  return parts.isEmpty() ? tr("none") : parts.join(tr(", "));
}

QString severityWord(Severity severity) {
  return severity == Severity::Error ? tr("Error") : tr("Warning");
}

void ProblemListModel::setRows(std::vector<ProblemRow> rows) {
  if (rows == m_rows) return;
  beginResetModel();
  m_rows = std::move(rows);
  endResetModel();
}

int ProblemListModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

QVariant ProblemListModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const ProblemRow& row = m_rows.at(static_cast<std::size_t>(index.row()));
  const Problem& problem = row.problem;
  switch (role) {
    case Qt::DisplayRole:
      return problem.text;
    case Qt::ToolTipRole:
      return problem.hint.isEmpty() ? problem.text : tr("%1.\n%2.").arg(problem.text, problem.hint);
    case Qt::AccessibleTextRole:
      return tr("%1: %2. %3. %4").arg(severityWord(problem.severity), problem.text, problem.hint, row.node);
    default:
      return {};
  }
}

}  // namespace spanscope::ui
