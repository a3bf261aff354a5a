// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the answers, the newest first.
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/common/input_view.h"
#include "ui/views/output/output_model.h"

#include <QPointer>
#include <QWidget>

#include <optional>
#include <vector>

class QBoxLayout;
class QLabel;
class QProgressBar;
class QToolButton;
class QPushButton;
class QScrollArea;
class QVBoxLayout;

namespace spanscope::ui {

// Shows one answer as a card.

class BreakingLabel;
class ElidedLabel;

class AnswerCard : public QWidget {
  Q_OBJECT
 public:
  explicit AnswerCard(QWidget* parent = nullptr);

  void setContent(const Answer& answer, const Theme& theme, bool selected);
  const Answer& answer() const { return m_answer; }
  /// A compact card, for a low dock, shows only the first sentence of the advice. A button shows the rest.
  void setCompact(bool isCompact);
  QToolButton& copyButton() { return *m_copy; }
  QToolButton& fidelityButton() { return *m_measure; }
  QToolButton& moreButton() { return *m_more; }
  QToolButton& policiesButton() { return *m_policies; }
  QToolButton& adapterButton() { return *m_adapter; }
  QToolButton& modelsButton() { return *m_models; }

 Q_SIGNALS:
  void chosen();
  void fidelityWanted();
  void policiesWanted();  ///< compare policies
  void adapterWanted();   ///< use the adapter that fits the model
  void modelsWanted();    ///< choose a model
  void stopWanted();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  void showFidelity();
  void showAdvice();

  Answer m_answer;
  std::optional<Theme> m_theme;
  bool m_selected = false;
  ElidedLabel* m_title;
  QLabel* m_run;
  QLabel* m_policy;
  BreakingLabel* m_text;
  BreakingLabel* m_problem;
  QLabel* m_advice;         ///< the engine's warnings about the answer
  QLabel* m_brief;          ///< the first warning in a low dock, with as many lines as it needs
  QToolButton* m_more;      ///< shows the whole advice
  QToolButton* m_policies;  ///< an offer of the advice
  QToolButton* m_adapter;   ///< an offer of the advice
  QBoxLayout* m_offers;     ///< both offers; one below the other in a narrow card
  bool m_isCompact = false;
  bool m_isAdviceWanted = false;  ///< the user wants to read the whole advice
  QLabel* m_madeFor;              ///< the model's purpose, if the query is about something else
  QToolButton* m_models;          ///< opens the choice of models
  QLabel* m_same;
  QLabel* m_facts;
  QLabel* m_fidelity;        ///< headline of the comparison with a full prefill
  QProgressBar* m_progress;  ///< progress of the fidelity measurement
  BreakingLabel* m_full;     ///< the different answer of a full prefill
  QToolButton* m_measure;
  QBoxLayout* m_fidelityRow;  ///< headline and button; one below the other in a narrow card
  QToolButton* m_copy;
};

/// "streaming …", "waiting", "stopped", "failed"; empty once finished.
QString answerStateText(AnswerState state);

class ScopeBox;

class OutputView : public RunView {
  Q_OBJECT
 public:
  explicit OutputView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;

  const OutputModel& model() const { return m_model; }
  /// The shown cards, from top to bottom.
  const std::vector<AnswerCard*>& cards() const { return m_cards; }

 protected:
  void refresh() override;
  QString emptyText() const override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  bool isLow() const;
  RunScope scope() const;
  RunId runInView() const;
  void scrollToRun();
  OutputModel m_model;
  std::size_t m_most;
  QScrollArea* m_scroll;
  QVBoxLayout* m_list;
  QPushButton* m_more;
  std::vector<AnswerCard*> m_cards;
  RunId m_shown = 0;           ///< the run to whose answers the list was scrolled last; 0: none
  QPointer<ScopeBox> m_scope;  ///< the dock owns it after takeTitleControls()
};

}  // namespace spanscope::ui
