// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/difference_dialog.h"

#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTextBlock>
#include <QTextCursor>
#include <QVBoxLayout>

#include <algorithm>

namespace spanscope::ui {
namespace {

constexpr std::size_t kAround = 3;
constexpr QSize kSize(760, 520);

QChar signOf(LineChange change) {
  switch (change) {
    case LineChange::Removed:
      return QLatin1Char('-');
    case LineChange::Added:
      return QLatin1Char('+');
    case LineChange::Same:
      break;
  }
  return QLatin1Char(' ');
}

QTextBlockFormat formatOf(LineChange change, const Theme& theme) {
  QTextBlockFormat format;
  if (change == LineChange::Removed) format.setBackground(theme.color(Role::ErrorFill));
  if (change == LineChange::Added) format.setBackground(theme.color(Role::HitFill));
  return format;
}

}  // namespace

std::vector<DiffLine> withoutDistantLines(const std::vector<DiffLine>& lines, std::size_t around) {
  std::vector<bool> isNear(lines.size(), false);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].change == LineChange::Same) continue;
    const std::size_t end = std::min(lines.size(), i + around + 1);
    for (std::size_t near = i - std::min(i, around); near < end; ++near) isNear[near] = true;
  }
  std::vector<DiffLine> result;
  bool isLeftOut = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (isNear[i]) {
      result.push_back(lines[i]);
    } else if (!isLeftOut) {
      result.push_back({LineChange::Same, QStringLiteral("…")});
    }
    isLeftOut = !isNear[i];
  }
  return result;
}

DifferenceDialog::DifferenceDialog(const QString& title, const QString& sentence, const QString& before,
                                   const QString& after, const Theme& theme, QWidget* parent)
    : QDialog(parent) {
  setWindowTitle(title);
  auto* head = new QLabel(sentence, this);
  head->setWordWrap(true);
  auto* text = new QPlainTextEdit(this);
  text->setReadOnly(true);
  text->setFont(theme.monoFont());
  text->setLineWrapMode(QPlainTextEdit::NoWrap);
  text->setAccessibleName(title);
  const std::vector<DiffLine> lines = withoutDistantLines(
      diffLines(before.split(QLatin1Char('\n')), after.split(QLatin1Char('\n'))), kAround);
  QTextCursor cursor(text->document());
  int firstChange = -1;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) cursor.insertBlock();
    cursor.setBlockFormat(formatOf(lines[i].change, theme));
    cursor.insertText(QString(signOf(lines[i].change)) + QLatin1Char(' ') + lines[i].text);
    if (firstChange < 0 && lines[i].change != LineChange::Same) firstChange = static_cast<int>(i);
  }
  const bool isSame = firstChange < 0;
  if (isSame) text->setPlainText(tr("The contents are the same."));
  text->setTextCursor(QTextCursor(text->document()->findBlockByNumber(std::max(0, firstChange))));

  auto* closeButton = new QPushButton(tr("Close"), this);
  closeButton->setDefault(true);
  connect(closeButton, &QPushButton::clicked, this, &QDialog::accept);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(4 * kSpace, 4 * kSpace, 4 * kSpace, 4 * kSpace);
  column->setSpacing(3 * kSpace);
  column->addWidget(head);
  column->addWidget(text, 1);
  column->addWidget(closeButton, 0, Qt::AlignRight);
  resize(kSize);
}

}  // namespace spanscope::ui
