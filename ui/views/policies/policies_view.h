// SPDX-License-Identifier: GPL-3.0-or-later
// The page for comparing reuse policies. The page has the choice of policies, the progress, the table and the
// answers.
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/common/measure_page.h"
#include "ui/views/policies/policies_model.h"

#include <QRectF>
#include <QStringList>
#include <QTextBrowser>
#include <QToolButton>

#include <string>
#include <vector>

class QLabel;
class QMenu;
class QPainter;
class QTextDocument;

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

  PoliciesModel m_model;
  PolicyMenu* m_choice = nullptr;
  PolicyAnswers* m_answers = nullptr;
  QLabel* m_token = nullptr;  ///< facts about the token at the cursor
};

// A button with a menu for choosing the policies to compare.

class PolicyMenu : public QToolButton {
  Q_OBJECT
 public:
  explicit PolicyMenu(QWidget* parent = nullptr);

  /// `own`: the document's policy, written as in the document's file. This policy is always compared.
  /// `wanted`: the names of the other chosen policies.
  void setChosen(const std::string& own, const std::vector<std::string>& wanted);

 Q_SIGNALS:
  /// The names of all checked policies. The list has the document's own policy only if setChosen() named this
  /// policy.
  void chosen(const std::vector<std::string>& names);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void reportChosen();

  QMenu* m_menu;
  std::string m_own;
  std::vector<std::string> m_wanted;
};

// Answers under several policies, token by token.

/// A read-only text. The arrow keys go from token to token. Tokens that a full prefill would not have chosen
/// are underlined in the accent colour. The widget is as high as its text.
class PolicyAnswers : public QTextBrowser {
  Q_OBJECT
 public:
  explicit PolicyAnswers(QWidget* parent = nullptr);

  void setContent(const std::vector<PolicyAnswer>& answers, const Theme& theme);

 Q_SIGNALS:
  /// The cursor is at another token. `help` has the facts about this token, or is empty.
  void tokenReached(const QString& help);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;

 private:
  void fitHeight();
  void goToToken(int steps);
  void emitToken();

  std::vector<PolicyAnswer> m_answers;
  Theme m_theme;
  std::vector<std::pair<int, QString>> m_tokens;  ///< start in the text, ascending, and help
};

/// Writes the answers into a document. Returns the start and the help of each token, ascending by start.
std::vector<std::pair<int, QString>> writeAnswers(QTextDocument& document,
                                                  const std::vector<PolicyAnswer>& answers,
                                                  const Theme& theme);

}  // namespace spanscope::ui
