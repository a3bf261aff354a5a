// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/document/problems.h"

#include <QAbstractListModel>

#include <vector>

namespace spanscope::ui {

/// One problem in the list.
struct ProblemRow {
  Problem problem;
  QString node;  ///< name of the node; empty: the document as a whole
  bool operator==(const ProblemRow&) const = default;
};

/// The problems that the window lists. That a document without nodes is empty is not among them: it was just
/// created, and the list says how to begin instead.
std::vector<Problem> listedProblems(const document::Document& document, std::vector<Problem> problems);
/// The rows of listedProblems().
std::vector<ProblemRow> problemRows(const document::Document& document, std::vector<Problem> problems);
/// "none", "2 errors, 1 warning".
QString problemSummary(const std::vector<ProblemRow>& rows);
QString severityWord(Severity severity);

class ProblemListModel : public QAbstractListModel {
  Q_OBJECT
 public:
  using QAbstractListModel::QAbstractListModel;

  void setRows(std::vector<ProblemRow> rows);
  const std::vector<ProblemRow>& rows() const { return m_rows; }

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;

 private:
  std::vector<ProblemRow> m_rows;
};

}  // namespace spanscope::ui
