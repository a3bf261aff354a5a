// SPDX-License-Identifier: GPL-3.0-or-later
// Shows plans on two pages. One page has the rules that turn the document's query into a plan. The other page
// has the steps of a run's plan, with the planner's explanation.
#pragma once

#include "engine/plan/plan.h"
#include "ui/session/view_input.h"
#include "ui/views/common/input_view.h"

#include <QPointer>
#include <QString>

#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::ui {

enum class StepState : std::uint8_t { Planned, Waiting, Computing, Decoding, Finished, Stopped, Failed };

struct PlanStep {
  StepIndex step = 0;
  NodePath node;
  QString name;
  std::uint32_t ply = 0;
  std::vector<StepIndex> needs;
  RequestId request = 0;  ///< 0: the step has no request yet
  StepState state = StepState::Planned;
  std::int64_t promptTokens = 0;
  std::int64_t cachedTokens = 0;
  std::int64_t generatedTokens = 0;
  bool operator==(const PlanStep&) const = default;
};

struct PlanModel {
  RunId run = 0;  ///< 0: there is no run
  QString policy;
  std::vector<PlanStep> steps;
  QString explain;
  bool operator==(const PlanModel&) const = default;
};

/// Returns the first of these plans that exists:
/// - the plan of the selected request's run
/// - the plan of the document's newest run with a plan
/// - the newest plan of all documents.
PlanModel planModel(const ViewInput& input);
QString stepStateText(StepState state);
/// "0, 1, 2"; "nothing"
QString needsText(const std::vector<StepIndex>& needs);
QString planCsv(const PlanModel& model);
/// Every change of every pass, as comma-separated values.
QString passesCsv(const plan::Plan& plan);

}  // namespace spanscope::ui
class QComboBox;
class QPlainTextEdit;
class QSplitter;
class QStackedLayout;

namespace spanscope::ui {

class PaintedTableModel;
class PassView;
class TableView;

class PlanView : public RunView {
  Q_OBJECT
 public:
  enum class Page : std::uint8_t { Rules, Steps };

  explicit PlanView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;

  const PlanModel& model() const { return m_model; }
  TableView& table() { return *m_table; }
  PassView& passes() { return *m_passes; }
  /// The shown page: the page of setPage(), or the other page if that page is empty.
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
  TableView* m_table;
  PaintedTableModel* m_steps;
  QPlainTextEdit* m_text;
};

}  // namespace spanscope::ui
