// SPDX-License-Identifier: GPL-3.0-or-later
// The page for comparing reuse policies: which ones, the progress, the table, and the answers.
#pragma once

#include "ui/views/common/measure_page.h"
#include "ui/views/common/table_painting.h"
#include "ui/views/policies/policies_model.h"

class QLabel;

namespace spanscope::ui {

class PolicyAnswers;
class PolicyMenu;

class PoliciesView : public MeasurePage {
  Q_OBJECT
 public:
  explicit PoliciesView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;

  const PoliciesModel& model() const { return m_model; }
  PolicyMenu& menu() { return *m_choice; }
  PolicyAnswers& answers() { return *m_answers; }

 protected:
  void refresh() override;
  QString introduction() const override;
  QString text() const override;
  QString command() const override;

 private:
  QWidget* makeResults();
  PaintedTable painted() const;

  PoliciesModel m_model;
  PolicyMenu* m_choice = nullptr;
  PolicyAnswers* m_answers = nullptr;
  QLabel* m_token = nullptr;  ///< what is known of the token at the cursor
};

}  // namespace spanscope::ui
