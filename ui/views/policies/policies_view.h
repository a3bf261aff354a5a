// SPDX-License-Identifier: GPL-3.0-or-later
// The page for comparing reuse policies: which ones, the progress, the table, and the answers.
#pragma once

#include "ui/views/common/input_view.h"
#include "ui/views/common/table_painting.h"
#include "ui/views/policies/policies_model.h"

#include <optional>

class QLabel;
class QProgressBar;
class QPushButton;
class QScrollArea;
class QTableWidget;
class QToolButton;

namespace spanscope::ui {

class PolicyAnswers;
class PolicyMenu;

class PoliciesView : public InputView {
  Q_OBJECT
 public:
  explicit PoliciesView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;

  const PoliciesModel& model() const { return m_model; }
  PolicyMenu& menu() { return *m_choice; }
  PolicyAnswers& answers() { return *m_answers; }
  /// Copies the table and the answers to the clipboard as text.
  void copy() const;

 protected:
  void refresh() override;
  void paintEvent(QPaintEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  QWidget* makeControls();
  QWidget* makeResults();
  void fillTable();
  void runOrStop();
  PaintedTable painted() const;
  QString remarkText() const;

  PoliciesModel m_model;
  std::optional<Theme> m_shown;  ///< the theme of the widgets' present content
  QPushButton* m_run = nullptr;
  PolicyMenu* m_choice = nullptr;
  QToolButton* m_copy = nullptr;
  QLabel* m_doing = nullptr;
  QProgressBar* m_progress = nullptr;
  QScrollArea* m_scroll = nullptr;
  QLabel* m_setup = nullptr;
  QTableWidget* m_table = nullptr;
  QLabel* m_remarks = nullptr;
  PolicyAnswers* m_answers = nullptr;
  QLabel* m_token = nullptr;  ///< what is known of the token at the cursor
};

}  // namespace spanscope::ui
