// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/lesson_server_dialog.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace spanscope::ui {
namespace {

constexpr int kWidth = 520;
constexpr int kMostRows = 6;
constexpr int kServerRole = Qt::UserRole;

}  // namespace

LessonServerDialog::LessonServerDialog(const std::vector<workbench::NamedServer>& servers,
                                       const std::string& wanted, const Theme& theme, QWidget* parent)
    : QDialog(parent), m_list(new QListWidget(this)) {
  setWindowTitle(tr("Run this lesson on…"));
  auto* head = new QLabel(wanted.empty() ? tr("Where should this lesson run?")
                                         : tr("The query is set to run on the server “%1”. Where should this "
                                              "lesson run?")
                                               .arg(QString::fromStdString(wanted)),
                          this);
  head->setFont(theme.titleFont());
  head->setTextFormat(Qt::PlainText);
  head->setWordWrap(true);
  auto* help = new QLabel(tr("The embedded engine sends no texts. A server gets the texts of the lesson's "
                             "queries. Your choice is valid until you leave the lesson."),
                          this);
  help->setWordWrap(true);

  m_list->setObjectName(QStringLiteral("lessonServers"));
  m_list->setAccessibleName(tr("Where to run this lesson"));
  m_list->setTextElideMode(Qt::ElideMiddle);
  const auto add = [this](const QString& title, const QString& detail, const std::string& name) {
    auto* row = new QListWidgetItem(title + QLatin1Char('\n') + detail, m_list);
    row->setData(kServerRole, QString::fromStdString(name));
    row->setToolTip(detail);
  };
  add(tr("The embedded engine"), tr("This computer"), {});
  for (const workbench::NamedServer& server : servers)
    add(QString::fromStdString(server.name), QString::fromStdString(server.url), server.name);
  m_list->setCurrentRow(0);
  const int rows = std::clamp(m_list->count(), 1, kMostRows);
  m_list->setMinimumHeight(rows * m_list->sizeHintForRow(0) + 2 * m_list->frameWidth() + kSpace);
  connect(m_list, &QListWidget::itemActivated, this, &QDialog::accept);

  auto* cancel = new QPushButton(tr("Cancel"), this);
  cancel->setAutoDefault(false);
  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
  auto* choose = new QPushButton(this);
  choose->setObjectName(QStringLiteral("primary"));
  choose->setDefault(true);
  connect(choose, &QPushButton::clicked, this, &QDialog::accept);
  // The button has the name of the server, so that users do not send texts there by habit.
  const auto nameButton = [this, choose] {
    const QString name = QString::fromStdString(server());
    choose->setText(name.isEmpty()
                        ? tr("Run here")
                        : tr("Send to %1").arg(fontMetrics().elidedText(name, Qt::ElideMiddle, kWidth / 2)));
  };
  connect(m_list, &QListWidget::currentRowChanged, this, nameButton);
  nameButton();
  auto* foot = new QHBoxLayout;
  foot->setSpacing(2 * kSpace);
  foot->addStretch(1);
  foot->addWidget(cancel);
  foot->addWidget(choose);

  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(4 * kSpace, 4 * kSpace, 4 * kSpace, 4 * kSpace);
  column->setSpacing(3 * kSpace);
  column->addWidget(head);
  column->addWidget(help);
  column->addWidget(m_list, 1);
  column->addLayout(foot);
  resize(kWidth, sizeHint().height());
  m_list->setFocus();
}

std::string LessonServerDialog::server() const {
  const QListWidgetItem* item = m_list->currentItem();
  return item == nullptr ? std::string() : item->data(kServerRole).toString().toStdString();
}

}  // namespace spanscope::ui
