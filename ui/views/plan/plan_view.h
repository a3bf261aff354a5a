// SPDX-License-Identifier: GPL-3.0-or-later
// Shows plans on two pages: the rules that turn the document's query into a plan, and the steps of a run's
// plan with the planner's own explanation.
#pragma once

#include "ui/views/common/input_view.h"
#include "ui/views/plan/plan_model.h"

#include <QPointer>

#include <cstdint>
#include <optional>

class QComboBox;
class QPlainTextEdit;
class QSplitter;
class QStackedLayout;
class QTableWidget;

namespace spanscope::ui {

class PassView;

class PlanView : public RunView {
  Q_OBJECT
 public:
  enum class Page : std::uint8_t { Rules, Steps };

  explicit PlanView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;

  const PlanModel& model() const { return m_model; }
  QTableWidget& table() { return *m_table; }
  PassView& passes() { return *m_passes; }
  /// The page that is shown: the page that was asked for, or the other one if that page has nothing to show.
  Page page() const;
  void setPage(Page page);

 protected:
  void refresh() override;
  QString emptyText() const override;

 private:
  bool hasRules() const;
  void refreshSteps();
  void fill();
  void select(int row);
  void summarize();

  PlanModel m_model;
  Page m_page = Page::Rules;
  QString m_summary;
  QPointer<QComboBox> m_pages;
  QStackedLayout* m_stack;
  QWidget* m_nothing;
  PassView* m_passes;
  std::optional<Theme> m_shown;
  QSplitter* m_splitter;
  QTableWidget* m_table;
  QPlainTextEdit* m_text;
};

}  // namespace spanscope::ui
