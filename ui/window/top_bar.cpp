// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/top_bar.h"

#include "engine/policy/policies.h"
#include "engine/workbench/setting_values.h"
#include "ui/window/workspace.h"

#include <QFrame>
#include <QHBoxLayout>
#include <QSignalBlocker>

namespace spanscope::ui {
namespace {

constexpr int kHeight = 44;  // pixels

QString countText(double parameters) {
  if (parameters >= 1e9) return TopBar::tr("%1 G").arg(parameters / 1e9, 0, 'f', 1);
  if (parameters >= 1e6) return TopBar::tr("%1 M").arg(parameters / 1e6, 0, 'f', 1);
  return TopBar::tr("%1 k").arg(parameters / 1e3, 0, 'f', 0);
}

QString modelText(const EngineHost& engine) {
  if (engine.state() == EngineState::Loading) return TopBar::tr("loading…");
  const LoadedModel& model = engine.model();
  if (model.name.isEmpty()) return TopBar::tr("no model");
  return model.name + QStringLiteral(" · ") + countText(model.parameters) + QStringLiteral(" · CPU");
}

}  // namespace

TopBar::TopBar(Workspace& workspace, QMenu* menu, QWidget* parent) : QWidget(parent), m_workspace(workspace) {
  setObjectName(QStringLiteral("topBar"));
  setAttribute(Qt::WA_StyledBackground);
  setFixedHeight(kHeight);
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(8, 0, 8, 0);
  layout->setSpacing(8);
  layout->addWidget(makeMenuButton(menu));

  m_tabs = new QTabBar;
  m_tabs->setAccessibleName(tr("Open documents"));
  m_tabs->setTabsClosable(true);
  m_tabs->setExpanding(false);
  m_tabs->setElideMode(Qt::ElideMiddle);
  m_tabs->setDrawBase(false);
  m_tabs->setUsesScrollButtons(true);
  m_tabs->setFocusPolicy(Qt::TabFocus);
  connect(m_tabs, &QTabBar::currentChanged, this, &TopBar::tabChosen);
  connect(m_tabs, &QTabBar::tabCloseRequested, this, &TopBar::tabCloseWanted);
  m_tabs->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred);
  // Names of documents come before empty room.
  layout->addWidget(m_tabs, 100);
  auto* add = new QToolButton;
  add->setText(QStringLiteral("+"));
  add->setAutoRaise(true);
  add->setAccessibleName(tr("New document"));
  add->setToolTip(tr("New document (Ctrl+N)"));
  connect(add, &QToolButton::clicked, this, [this] { Q_EMIT commandWanted(QStringLiteral("file.new")); });
  layout->addWidget(add);
  layout->addStretch(1);

  layout->addWidget(makeLayouts(), 0, Qt::AlignVCenter);
  layout->addStretch(1);

  m_model = makeDropDown(tr("Model"), tr("The loaded model, its weights and device. Opens the settings."));
  connect(m_model, &QToolButton::clicked, this,
          [this] { Q_EMIT commandWanted(QStringLiteral("view.dock:settings")); });
  layout->addWidget(m_model);

  m_policy = makeDropDown(tr("Reuse policy"),
                          tr("How far the run departs from a full prefill, and what it is exact against"));
  m_policy->setPopupMode(QToolButton::InstantPopup);
  auto* policies = new QMenu(m_policy);
  for (const policy::Policy* policy : policy::policies()) {
    const QString name = QString::fromUtf8(policy->name);
    policies->addAction(name + QStringLiteral(": ") + QString::fromUtf8(policy->exactness), this,
                        [this, name] {
                          if (document::DocumentModel* model = m_workspace.model()) {
                            model->change(tr("Policy %1").arg(name), [&name](document::Document& document) {
                              document.settings.policy = name.toStdString();
                            });
                          }
                        });
  }
  m_policy->setMenu(policies);
  layout->addWidget(m_policy);

  m_stop = new QPushButton(tr("Stop"));
  m_stop->setToolTip(tr("Stop the run (Ctrl+.)"));
  connect(m_stop, &QPushButton::clicked, this, [this] { Q_EMIT commandWanted(QStringLiteral("run.stop")); });
  layout->addWidget(m_stop);
  m_run = new QPushButton(tr("▶ Run"));
  m_run->setAccessibleName(tr("Run"));
  m_run->setObjectName(QStringLiteral("primary"));
  m_run->setToolTip(tr("Run the query (Ctrl+Return)"));
  connect(m_run, &QPushButton::clicked, this, [this] { Q_EMIT commandWanted(QStringLiteral("run.run")); });
  layout->addWidget(m_run);
}

QToolButton* TopBar::makeMenuButton(QMenu* menu) {
  auto* button = new QToolButton;
  button->setText(QStringLiteral("☰"));
  button->setAutoRaise(true);
  button->setAccessibleName(tr("Menu"));
  button->setToolTip(tr("Menu (F10)"));
  button->setShortcut(Qt::Key_F10);
  button->setMenu(menu);
  button->setPopupMode(QToolButton::InstantPopup);
  return button;
}

QToolButton* TopBar::makeDropDown(const QString& name, const QString& help) {
  auto* button = new QToolButton;
  button->setAccessibleName(name);
  button->setToolTip(help);
  return button;
}

QWidget* TopBar::makeLayouts() {
  auto* frame = new QFrame;
  frame->setObjectName(QStringLiteral("segments"));
  frame->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  auto* layout = new QHBoxLayout(frame);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  m_layouts = new QButtonGroup(this);
  int id = 0;
  for (const QString& text : {tr("Author"), tr("Explain"), tr("Measure")}) {
    auto* button = new QPushButton(text);
    button->setCheckable(true);
    button->setObjectName(QStringLiteral("segment"));
    button->setToolTip(tr("%1 layout (Alt+%2)").arg(text).arg(id + 1));
    m_layouts->addButton(button, id++);
    layout->addWidget(button);
  }
  connect(m_layouts, &QButtonGroup::idClicked, this, [this](int layoutIndex) {
    Q_EMIT commandWanted(QStringLiteral("view.") + layoutName(static_cast<LayoutId>(layoutIndex)));
  });
  return frame;
}

void TopBar::refresh(LayoutId layout, bool welcome) {
  const QSignalBlocker blocker(m_tabs);
  const auto& documents = m_workspace.documents();
  while (m_tabs->count() > static_cast<int>(documents.size())) m_tabs->removeTab(m_tabs->count() - 1);
  while (m_tabs->count() < static_cast<int>(documents.size())) m_tabs->addTab(QString());
  for (int i = 0; i < m_tabs->count(); ++i) {
    const OpenDocument& document = *documents[static_cast<std::size_t>(i)];
    QString title = document.model->title();
    if (document.model->isModified()) title += QStringLiteral(" •");
    title.replace(QLatin1Char('&'), QStringLiteral("&&"));
    if (m_tabs->tabText(i) != title) m_tabs->setTabText(i, title);
    m_tabs->setTabToolTip(i, document.model->filePath());
    if (&document == m_workspace.current()) m_tabs->setCurrentIndex(i);
  }

  if (QAbstractButton* button = m_layouts->button(static_cast<int>(layout))) button->setChecked(true);
  for (QAbstractButton* button : m_layouts->buttons()) button->setEnabled(!welcome);

  const EngineHost& engine = m_workspace.engine();
  m_model->setText(modelText(engine) + QStringLiteral(" ▾"));
  const OpenDocument* current = m_workspace.current();
  const policy::Policy& policy = current == nullptr
                                     ? policy::standardPolicy()
                                     : workbench::policyOf(current->model->document().settings.policy);
  m_policy->setText(QString::fromUtf8(policy.name) + QStringLiteral(" ▾"));
  m_policy->setToolTip(
      tr("Reuse policy %1: %2.\nHow far the run departs from a full prefill, and what it is exact against.")
          .arg(QString::fromUtf8(policy.name), QString::fromUtf8(policy.exactness)));
  const bool running = engine.state() == EngineState::Running;
  m_stop->setEnabled(running);
  m_run->setEnabled(current != nullptr && !running && !current->recording);
  m_policy->setEnabled(current != nullptr);
}

}  // namespace spanscope::ui
