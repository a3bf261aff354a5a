// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/commands/key_sheet.h"

#include <QDialogButtonBox>
#include <QFileDialog>
#include <QLabel>
#include <QPainter>
#include <QPrintDialog>
#include <QPrinter>
#include <QPushButton>
#include <QScreen>
#include <QScrollArea>
#include <QVBoxLayout>

#include <algorithm>

namespace spanscope::ui {
namespace {

constexpr int kColumns = 3;

class Sheet : public QWidget {
 public:
  Sheet(const std::vector<std::vector<KeySection>>& columns, const Theme& theme)
      : m_columns(columns), m_theme(theme) {
    setFixedSize(keySheetSize(columns, theme));
  }

 protected:
  void paintEvent(QPaintEvent* /*event*/) override {
    QPainter painter(this);
    paintKeySheet(painter, m_columns, m_theme);
  }

 private:
  std::vector<std::vector<KeySection>> m_columns;
  Theme m_theme;
};

}  // namespace

KeySheet::KeySheet(const std::vector<CommandInfo>& table, const Theme& theme, QWidget* parent)
    : QDialog(parent), m_columns(keySheetColumns(keySheetSections(table), kColumns)) {
  setWindowTitle(tr("Keys"));
  auto* sheet = new Sheet(m_columns, theme);
  auto* area = new QScrollArea(this);
  area->setFrameShape(QFrame::NoFrame);
  area->setWidget(sheet);
  area->setAlignment(Qt::AlignCenter);
  area->setAccessibleName(tr("Keys"));
  // The sheet is painted: its text is read out from here.
  area->setAccessibleDescription(keySheetText(keySheetSections(table)));
  area->viewport()->setAutoFillBackground(true);
  QPalette surface = area->viewport()->palette();
  surface.setColor(QPalette::Window, theme.color(Role::Surface));
  area->viewport()->setPalette(surface);

  m_message = new QLabel(this);
  m_message->setFont(theme.smallFont());
  m_message->setWordWrap(true);
  auto* printButton = new QPushButton(tr("Print…"), this);
  auto* saveButton = new QPushButton(tr("Save as PDF…"), this);
  auto* closeButton = new QPushButton(tr("Close"), this);
  closeButton->setDefault(true);
  auto* foot = new QHBoxLayout;
  foot->setContentsMargins(4 * kSpace, 2 * kSpace, 4 * kSpace, 3 * kSpace);
  foot->setSpacing(2 * kSpace);
  foot->addWidget(m_message, 1);
  foot->addWidget(printButton);
  foot->addWidget(saveButton);
  foot->addWidget(closeButton);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(area, 1);
  column->addLayout(foot);

  connect(printButton, &QPushButton::clicked, this, &KeySheet::print);
  connect(saveButton, &QPushButton::clicked, this, &KeySheet::save);
  connect(closeButton, &QPushButton::clicked, this, &QDialog::accept);

  constexpr int kFoot = 56;
  const QSize wanted = sheet->size() + QSize(2, kFoot);
  const QSize most = screen() == nullptr ? wanted : screen()->availableSize() * 0.9;
  resize(wanted.boundedTo(most));
  closeButton->setFocus();
}

void KeySheet::print() {
  QPrinter printer(QPrinter::HighResolution);
  printer.setPageOrientation(QPageLayout::Landscape);
  QPrintDialog dialog(&printer, this);
  if (dialog.exec() != QDialog::Accepted) return;
  const Theme paper(Scheme::Light);
  const QSizeF sheet = keySheetSize(m_columns, paper);
  QPainter painter(&printer);
  const QRectF page = painter.viewport();
  const double scale = std::min(page.width() / sheet.width(), page.height() / sheet.height());
  painter.scale(scale, scale);
  paintKeySheet(painter, m_columns, paper);
}

void KeySheet::save() {
  const QString path = QFileDialog::getSaveFileName(this, tr("Save the keys"), tr("spanscope-keys.pdf"),
                                                    tr("PDF documents (*.pdf)"));
  if (path.isEmpty()) return;
  const std::optional<Error> error = writeKeySheetPdf(path, m_columns);
  m_message->setText(error ? QString::fromStdString(error->message()) : tr("Saved as %1").arg(path));
}

}  // namespace spanscope::ui
