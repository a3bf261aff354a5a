// SPDX-License-Identifier: GPL-3.0-or-later
// Lists the problems of the query, each with its node.
#pragma once

#include "ui/document/unread_text.h"
#include "ui/session/problem_finder.h"
#include "ui/views/common/input_view.h"

#include <QPointer>
#include <QTimer>

#include <cstdint>
#include <string>
#include <vector>

class QBoxLayout;
class QLabel;
class QListView;
class QPushButton;
class QStackedWidget;

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
  void resizeEvent(QResizeEvent* event) override;

 private:
  void find();
  QString nodeKey() const;
  const ProblemRow* rowAt(const QModelIndex& index) const;
  void arrange();
  void showFix(const std::vector<ProblemRow>& rows);
  void acceptModel();
  void useProcessor();
  void enlargePool();

  QListView* m_list;
  QLabel* m_empty;
  ProblemListModel* m_model;
  QStackedWidget* m_pages;
  QBoxLayout* m_layout = nullptr;  ///< the list and its buttons
  QPushButton* m_fix;
  QPushButton* m_processor;       ///< makes the CPU the document's device
  QPushButton* m_template;        ///< leads to the choice of a chat template
  QPushButton* m_discard;         ///< removes JSON text that is no query
  QPointer<UnreadText> m_unread;  ///< of the document; null: none is open
  QPushButton* m_pool;            ///< makes the pool large enough
  std::int32_t m_poolNeeded = 0;  ///< blocks that m_pool sets; 0: none
  std::string m_otherModel;       ///< model that m_fix accepts; empty: none
  QTimer m_later;                 ///< delays the search, because changes come in bursts
  ProblemFinder m_finder;
};

}  // namespace spanscope::ui
