// SPDX-License-Identifier: GPL-3.0-or-later
// Answers under several policies, token by token.
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/policies/policies_model.h"

#include <QRectF>
#include <QTextBrowser>

#include <vector>

class QPainter;
class QTextDocument;

namespace spanscope::ui {

/// A text to read: the arrow keys go from token to token. Tokens that a full prefill would not have chosen
/// are underlined in the accent colour. The widget is as high as its text.
class PolicyAnswers : public QTextBrowser {
  Q_OBJECT
 public:
  explicit PolicyAnswers(QWidget* parent = nullptr);

  void setContent(const std::vector<PolicyAnswer>& answers, const Theme& theme);

 Q_SIGNALS:
  /// The cursor stands at another token; `help` says what is known of it, or is empty.
  void tokenReached(const QString& help);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;

 private:
  void fitHeight();
  void goToToken(int steps);
  void tellToken();

  std::vector<PolicyAnswer> m_answers;
  Theme m_theme;
  std::vector<std::pair<int, QString>> m_tokens;  ///< where each begins in the text, ascending, and its help
};

/// Writes the answers into a document. Returns where each token begins, ascending, and what is said of it.
std::vector<std::pair<int, QString>> writeAnswers(QTextDocument& document,
                                                  const std::vector<PolicyAnswer>& answers,
                                                  const Theme& theme);

}  // namespace spanscope::ui
