// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/policies/policy_menu.h"

#include "engine/policy/policies.h"
#include "engine/workbench/setting_choices.h"
#include "ui/session/policy_comparison.h"
#include "ui/words/table_words.h"

#include <QAction>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>

#include <algorithm>

namespace spanscope::ui {

PolicyMenu::PolicyMenu(QWidget* parent) : QToolButton(parent), m_menu(new QMenu(this)) {
  setPopupMode(QToolButton::InstantPopup);
  setToolTip(tr("Which policies are compared; remembered"));
  setMenu(m_menu);
  m_menu->installEventFilter(this);
  for (const policy::Policy* policy : policy::policies()) {
    QAction* action = m_menu->addAction(QString(), this, &PolicyMenu::tellChosen);
    action->setData(QString::fromUtf8(policy->name));
    action->setCheckable(true);
  }
}

void PolicyMenu::setChosen(const std::string& own, const std::vector<std::string>& wanted) {
  m_own = own;
  m_wanted = wanted;
  const policy::Choice first = workbench::policyOf(own);
  for (QAction* action : m_menu->actions()) {
    const policy::Policy& policy = *policy::findPolicy(action->data().toString().toStdString());
    const bool isOwn = &policy == &first.policy();
    const QString name = QString::fromStdString(isOwn ? first.name() : policy::Choice(policy).name());
    const QString brief = isOwn ? tr("the document's own") : policyWord(policy.brief);
    action->setText(tr("%1: %2").arg(name, brief));
    action->setChecked(isOwn ||
                       std::find(wanted.begin(), wanted.end(), std::string(policy.name)) != wanted.end());
    action->setEnabled(!isOwn);
  }
  setText(tr("%1 policies ▾").arg(comparedPolicies(own, wanted).size()));
}

void PolicyMenu::tellChosen() {
  const std::string own = workbench::policyOf(m_own).policy().name;
  QStringList names;
  for (const QAction* action : m_menu->actions()) {
    const std::string name = action->data().toString().toStdString();
    // The own policy is checked whether it was wanted or not; another document has another one.
    const bool wasWanted = std::find(m_wanted.begin(), m_wanted.end(), name) != m_wanted.end();
    if (name == own ? wasWanted : action->isChecked()) names += action->data().toString();
  }
  Q_EMIT chosen(names);
}

/// Checking one leaves the menu open for the next.
bool PolicyMenu::eventFilter(QObject* watched, QEvent* event) {
  QAction* action = nullptr;
  if (event->type() == QEvent::MouseButtonRelease)
    action = m_menu->actionAt(static_cast<QMouseEvent*>(event)->position().toPoint());
  else if (event->type() == QEvent::KeyPress && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Space)
    action = m_menu->activeAction();
  if (action == nullptr || !action->isEnabled()) return QToolButton::eventFilter(watched, event);
  action->trigger();
  return true;
}

}  // namespace spanscope::ui
