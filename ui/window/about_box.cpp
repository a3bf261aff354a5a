// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/about_box.h"

#include <QClipboard>
#include <QGridLayout>
#include <QGuiApplication>
#include <QLabel>
#include <QPushButton>
#include <QSysInfo>
#include <QVBoxLayout>

namespace spanscope::ui {
namespace {

QString compiler() {
#if defined(__clang__)
  return QStringLiteral("Clang " __clang_version__);
#elif defined(__GNUC__)
  return QStringLiteral("GCC " __VERSION__);
#else
  return {};
#endif
}

}  // namespace

std::vector<AboutFact> aboutFacts(const QString& device) {
  std::vector<AboutFact> facts;
  const auto add = [&facts](const QString& name, const QString& value) {
    if (!value.isEmpty()) facts.push_back({name, value});
  };
  add(AboutBox::tr("Spanscope"), QStringLiteral(SPANSCOPE_VERSION));
  add(AboutBox::tr("Device"), device.isEmpty() ? AboutBox::tr("no model is loaded") : device);
  add(AboutBox::tr("Qt"), QLatin1String(qVersion()));
  add(AboutBox::tr("Compiler"), compiler());
  add(AboutBox::tr("Highway"), QStringLiteral(SPANSCOPE_HIGHWAY_VERSION));
  add(AboutBox::tr("System"),
      QStringLiteral("%1, %2").arg(QSysInfo::prettyProductName(), QSysInfo::currentCpuArchitecture()));
  return facts;
}

AboutBox::AboutBox(const QString& device, const Theme& theme, QWidget* parent)
    : QDialog(parent), m_facts(aboutFacts(device)) {
  setWindowTitle(tr("About Spanscope"));
  auto* title = new QLabel(tr("Spanscope"), this);
  QFont large = theme.interfaceFont();
  large.setPixelSize(20);
  large.setWeight(QFont::DemiBold);
  title->setFont(large);
  auto* sentence = new QLabel(
      tr("A workbench for span queries: write them, see them run on a KV cache, export them."), this);
  sentence->setWordWrap(true);

  auto* grid = new QGridLayout;
  grid->setHorizontalSpacing(6 * kSpace);
  grid->setVerticalSpacing(kSpace);
  grid->setColumnStretch(1, 1);
  int row = 0;
  for (const AboutFact& fact : m_facts) {
    auto* name = new QLabel(fact.name, this);
    name->setStyleSheet(QStringLiteral("color: %1").arg(theme.color(Role::TextSecond).name()));
    auto* value = new QLabel(fact.value, this);
    value->setFont(theme.monoFont());
    value->setWordWrap(true);
    value->setTextFormat(Qt::PlainText);
    value->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    value->setAccessibleName(fact.name);
    grid->addWidget(name, row, 0, Qt::AlignLeft | Qt::AlignTop);
    grid->addWidget(value, row, 1);
    ++row;
  }

  auto* licence = new QLabel(tr("Free software under the GNU General Public License, version 3 or later. "
                                "Spanscope comes without any warranty. "
                                "The bundled model is in the public domain (CC0)."),
                             this);
  licence->setWordWrap(true);
  licence->setFont(theme.smallFont());
  licence->setStyleSheet(QStringLiteral("color: %1").arg(theme.color(Role::TextThird).name()));

  auto* copyButton = new QPushButton(tr("&Copy versions"), this);
  copyButton->setToolTip(tr("Copy the versions as text, for a report"));
  auto* closeButton = new QPushButton(tr("Close"), this);
  closeButton->setDefault(true);
  connect(copyButton, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(text()); });
  connect(closeButton, &QPushButton::clicked, this, &QDialog::accept);
  auto* foot = new QHBoxLayout;
  foot->setSpacing(2 * kSpace);
  foot->addStretch();
  foot->addWidget(copyButton);
  foot->addWidget(closeButton);

  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(6 * kSpace, 6 * kSpace, 6 * kSpace, 4 * kSpace);
  column->setSpacing(0);
  column->addWidget(title);
  column->addSpacing(kSpace);
  column->addWidget(sentence);
  column->addSpacing(5 * kSpace);
  column->addLayout(grid);
  column->addSpacing(5 * kSpace);
  column->addWidget(licence);
  column->addSpacing(4 * kSpace);
  column->addStretch();
  column->addLayout(foot);
  resize(460, sizeHint().height());
  closeButton->setFocus();
}

QString AboutBox::text() const {
  QString lines;
  for (const AboutFact& fact : m_facts) lines += QStringLiteral("%1: %2\n").arg(fact.name, fact.value);
  return lines;
}

}  // namespace spanscope::ui
