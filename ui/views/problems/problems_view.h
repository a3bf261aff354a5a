// SPDX-License-Identifier: GPL-3.0-or-later
// Lists the problems of the query, each with its node.
#pragma once

#include "ui/document/problems.h"
#include "ui/document/unread_text.h"
#include "ui/session/problem_finder.h"
#include "ui/views/common/input_view.h"

#include <QAbstractListModel>
#include <QPointer>
#include <QTimer>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

class QLabel;
class QListView;
class QPushButton;
class QStackedWidget;
class QUndoCommand;

namespace spanscope::ui {

class ProblemListModel;
struct ProblemRow;

class ProblemsView : public InputView {
  Q_OBJECT
 public:
  explicit ProblemsView(QWidget* parent = nullptr);

  QString csv() const override;

 protected:
  void refresh() override;
  void modelChanged() override;
  bool event(QEvent* event) override;

 private:
  void find();
  QString nodeKey() const;
  const ProblemRow* rowAt(const QModelIndex& index) const;
  void setRows(std::vector<ProblemRow> rows);
  QPushButton* fixOf(const Problem& problem, bool isOfJson);
  void placeFixes();
  /// Changes settings. The undo key in this view undoes the change.
  void fix(const std::function<void()>& change);
  /// Undoes or redoes the last fix. Returns false if the last change of settings is no fix. `isTried`: only
  /// returns whether there is such a fix.
  bool undoFix(bool isRedo, bool isTried);
  void acceptModel(const std::string& name);
  void enlargePool(std::int32_t blocks);

  QListView* m_list;
  QLabel* m_empty;
  ProblemListModel* m_model;
  QStackedWidget* m_pages;
  std::vector<QPushButton*> m_fixes;             ///< by row; null: the user repairs the problem by hand
  std::map<int, const QUndoCommand*> m_fixedAt;  ///< the fixes, by the index of the undo stack after the fix
  bool m_wasTyped = false;                       ///< the first row was JSON text that is no query
  QPointer<UnreadText> m_unread;                 ///< of the document; null: none is open
  QTimer m_later;                                ///< delays the search, because changes come in bursts
  ProblemFinder m_finder;
};

/// One problem in the list.
struct ProblemRow {
  Problem problem;
  QString node;  ///< name of the node; empty: the document as a whole
  bool operator==(const ProblemRow&) const = default;
};

/// The problems that the window lists. The problem of an empty document is not in this list. Instead, the
/// view explains how to begin.
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
