// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/view_controller.h"

#include "engine/base/problem_sentence.h"
#include "engine/workbench/servers/simulator_prediction.h"
#include "ui/commands/command_table.h"
#include "ui/theme/theme.h"
#include "ui/views/common/moving_view.h"
#include "ui/views/view.h"
#include "ui/window/dock_host.h"
#include "ui/window/engine_jobs.h"
#include "ui/window/workspace.h"

#include <QApplication>
#include <QSettings>
#include <QStyle>

#include <algorithm>

namespace spanscope::ui {

namespace {

/// The setting's values are "off", and "system", the default.
constexpr const char* kMotionSetting = "window/motion";

}  // namespace

ViewController::ViewController(QSettings& settings, Workspace& workspace, CommandActions& actions)
    : m_settings(settings),
      m_workspace(workspace),
      m_actions(actions),
      m_docks(new DockHost),
      m_canvas(new Canvas),
      m_places(*m_canvas) {
  makeCanvas();
  makeDocks();
  connect(m_docks, &DockHost::settled, &m_places, &CanvasPlaces::fit);
}

void ViewController::makeCanvas() {
  m_mouse = {.wheelZooms = m_settings.value(QStringLiteral("canvas/wheel")) == QLatin1String("zoom"),
             .dragPans = m_settings.value(QStringLiteral("canvas/drag")) == QLatin1String("pan"),
             .snaps = m_settings.value(QStringLiteral("canvas/snap")) != QLatin1String("off")};
  m_canvas->setMouse(m_mouse);
  m_actions.addCanvas(m_canvas);
  connect(m_canvas, &Canvas::selectionWanted, &m_workspace, &Workspace::select);
  connect(m_canvas, &Canvas::commandWanted, this, &ViewController::commandWanted);
  connect(m_canvas, &Canvas::messageWanted, this, &ViewController::messageWanted);
  connect(m_canvas, &Canvas::filesDropped, this, &ViewController::filesDropped);
  connect(m_canvas, &Canvas::editWanted, this, [this] {
    m_docks->reveal(QStringLiteral("inspector"));
    if (Dock* dock = m_docks->dock(QStringLiteral("inspector")))
      QMetaObject::invokeMethod(dock->openView(), "focusText");
  });
}

void ViewController::makeDocks() {
  m_docks->add(new Dock(QStringLiteral("canvas"), tr("Canvas"), m_canvas, m_docks),
               {{LayoutId::Author, Room::Low, Room::Low, 1, 0, 0, 100, true},
                {LayoutId::Author, Room::Middle, Room::Full, 1, 0, 0, 78, true},
                {LayoutId::Author, Room::Large, Room::Large, 1, 0, 0, 89, true},
                {LayoutId::Explain, Room::Low, Room::Low, 0, 0, 0, 46},
                {LayoutId::Explain, Room::Middle, Room::Full, 0, 0, 0, 42},
                {LayoutId::Explain, Room::Large, Room::Large, 0, 0, 0, 58}},
               true);
  for (const ViewInfo& info : viewTable()) {
    m_docks->add(new Dock(
                     info.id, info.title, [this, &info] { return makeView(info); }, !info.isStrip, m_docks),
                 info.places, info.staysInSight);
  }
  for (Dock* dock : m_docks->docks()) {
    m_actions.addWindow(dock);
    connect(dock, &Dock::exportWanted, this, &ViewController::exportWanted);
    connect(dock, &Dock::maximiseWanted, this, [this, dock] { m_docks->toggleMaximised(dock); });
  }
}

View* ViewController::makeView(const ViewInfo& info) {
  View* view = info.make(nullptr);
  view->setAccessibleName(info.title);
  view->setWhatsThis(info.help);
  connect(view, &View::selectionWanted, this, [this, &info](const Selection& selection) {
    m_workspace.select(selection);
    if (!info.explainsBlocks && selection.block) m_docks->offer(QStringLiteral("why"));
    if (selection.currentNode() != document::kNoNode) m_canvas->reveal(selection.currentNode());
  });
  connect(view, &View::positionWanted, &m_workspace, &Workspace::setPosition);
  connect(view, &View::commandWanted, this, &ViewController::commandWanted);
  connect(view, &View::commandsChanged, this, &ViewController::commandsChanged);
  connect(view, &View::jobWanted, this, [this](const jobs::JobCall& call) {
    if (const QString problem = startJob(m_workspace, call); !problem.isEmpty())
      Q_EMIT complaintWanted(problem);
  });
  connect(view, &View::jobChosen, &m_workspace, &Workspace::choose);
  connect(view, &View::estimateWanted, this,
          [this](const jobs::JobCall& call) { estimateJob(m_workspace, call); });
  connect(view, &View::performed, this, &ViewController::performed);
  connect(view, &View::layoutsWanted, &m_workspace, &Workspace::compareLayouts);
  connect(view, &View::predicted, this, [this](const auto& reported) {
    if (!reported->problem.empty())
      Q_EMIT complaintWanted(
          tr("No prediction is possible: %1").arg(QString::fromStdString(withPeriod(reported->problem))));
    else if (m_workspace.addPredicted(*reported) != 0)
      m_docks->reveal(QStringLiteral("block-table"));
    Q_EMIT commandsChanged();
  });
  connect(view, &View::momentChanged, this, [this](const Moment& moment) {
    for (Dock* dock : m_docks->docks()) {
      if (auto* moving = dynamic_cast<MovingView*>(dock->view())) moving->setMoment(moment);
    }
  });
  view->setMotion([this] {
    return m_settings.value(QLatin1String(kMotionSetting)) != QLatin1String("off") &&
           m_docks->style()->styleHint(QStyle::SH_Widget_Animation_Duration) > 0 && desktopAllowsMotion();
  });
  view->setModel(m_workspace.model());
  view->setInput(m_workspace.input());
  return view;
}

void ViewController::addCommands(CommandHandlers& rows) {
  for (const ViewInfo& info : viewTable()) {
    // Returns nullptr if the view has not been made yet.
    const auto view = [this, &info] {
      const Dock* dock = m_docks->dock(info.id);
      return dock == nullptr ? nullptr : dock->view();
    };
    for (const QString& command : info.commands) {
      rows.add(
          command.toUtf8().constData(),
          [view, command] { return view() != nullptr && view()->canPerform(command); },
          [view, command] { view()->perform(command); });
    }
  }
  rows.add("view.author", [this] { m_docks->setLayout(LayoutId::Author); });
  rows.add("view.explain", [this] { m_docks->setLayout(LayoutId::Explain); });
  rows.add("view.measure", [this] { m_docks->setLayout(LayoutId::Measure); });
  rows.add("view.diagnose", [this] { m_docks->setLayout(LayoutId::Diagnose); });
  const auto focusedDock = [this] {
    Dock* dock = m_docks->dockOf(QApplication::focusWidget());
    return dock == nullptr ? m_docks->dock(QStringLiteral("canvas")) : dock;
  };
  const auto go = [this](int steps) {
    if (m_workspace.goThroughSelections(steps))
      m_canvas->reveal(m_workspace.current()->selection.currentNode());
  };
  rows.add(
      "view.back", [this] { return m_workspace.canGoThroughSelections(-1); }, [go] { go(-1); });
  rows.add(
      "view.forward", [this] { return m_workspace.canGoThroughSelections(1); }, [go] { go(1); });
  rows.add("view.maximise", [this, focusedDock] { m_docks->toggleMaximised(focusedDock()); });
  rows.add("view.float", [focusedDock] {
    Dock* dock = focusedDock();
    dock->setFloating(!dock->isFloating());
  });
  rows.add("view.canvas", [this] { m_canvas->setFocus(Qt::ShortcutFocusReason); });
  rows.add("view.reset", [this] { m_docks->resetLayout(); });
  rows.addWithArgument(
      "view.dock", [this] { return m_workspace.current() != nullptr; },
      [this](const QString& dock) { m_docks->reveal(dock); });
  rows.add("view.wheel", [this] {
    m_mouse.wheelZooms = !m_mouse.wheelZooms;
    useMouse();
    Q_EMIT messageWanted(m_mouse.wheelZooms
                             ? tr("The wheel zooms the canvas. Ctrl + wheel scrolls the canvas.")
                             : tr("The wheel scrolls the canvas. Ctrl + wheel zooms the canvas."));
  });
  rows.add("view.drag", [this] {
    m_mouse.dragPans = !m_mouse.dragPans;
    useMouse();
    Q_EMIT messageWanted(m_mouse.dragPans
                             ? tr("A drag on the empty canvas moves the view. Shift + drag selects nodes.")
                             : tr("A drag on the empty canvas selects nodes."));
  });
  rows.add("view.snap", [this] {
    m_mouse.snaps = !m_mouse.snaps;
    useMouse();
    Q_EMIT messageWanted(
        m_mouse.snaps ? tr("Dragged nodes snap to other nodes and to the grid. With Alt, nodes move freely.")
                      : tr("Dragged nodes move freely."));
  });
  rows.add("view.motion", [this] {
    const bool isOff = m_settings.value(QLatin1String(kMotionSetting)) == QLatin1String("off");
    m_settings.setValue(QLatin1String(kMotionSetting),
                        isOff ? QStringLiteral("system") : QStringLiteral("off"));
    Q_EMIT messageWanted(isOff ? tr("Playing a trace shows animations if the system allows animations.")
                               : tr("Playing a trace shows the events without animations."));
  });
}

void ViewController::useMouse() {
  m_settings.setValue(QStringLiteral("canvas/wheel"),
                      m_mouse.wheelZooms ? QStringLiteral("zoom") : QStringLiteral("scroll"));
  m_settings.setValue(QStringLiteral("canvas/drag"),
                      m_mouse.dragPans ? QStringLiteral("pan") : QStringLiteral("select"));
  m_settings.setValue(QStringLiteral("canvas/snap"),
                      m_mouse.snaps ? QStringLiteral("on") : QStringLiteral("off"));
  m_canvas->setMouse(m_mouse);
}

/// Shows which facts for a dock are missing in the shown trace.
void ViewController::showReported(Dock& dock) {
  const auto& table = viewTable();
  const auto info = std::find_if(table.begin(), table.end(),
                                 [&dock](const ViewInfo& each) { return each.id == dock.id(); });
  if (info == table.end()) return;
  const ViewInput& input = m_workspace.input();
  // A question of a lesson about a run rewinds this run. Then the other docks show an earlier run, but
  // Compare would compare this run with a run without requests.
  const bool isRewound = input.prediction.isWithheld && input.position < input.trace->size();
  const bool isRunHidden = isRewound && (input.shownRequest() == 0 || dock.id() == QLatin1String("compare"));
  const bool showsRuns =
      !info->needs.empty() || dock.id() == QLatin1String("output") || dock.id() == QLatin1String("log");
  if (isRunHidden && showsRuns && !info->isStrip)
    return dock.setUnreported(
        tr(/*id:hidden-until-answered*/ "Hidden until the question of the lesson is answered."), true);
  const ReportedFacts& reported = input.reported;
  dock.setUnreported(unreportedText(reported, info->needs), reportsNothing(reported, info->needs));
}

void ViewController::showInput() {
  const ViewInput& input = m_workspace.input();
  m_canvas->useServers(input.knownServers);
  m_canvas->setInput(input);
  for (Dock* dock : m_docks->docks()) {
    showReported(*dock);
    if (dock->view() != nullptr) dock->view()->setInput(input);
  }
}

void ViewController::showCurrent() {
  DocumentModel* model = m_workspace.model();
  m_places.show(m_workspace.current() == nullptr ? 0 : m_workspace.current()->id, model);
  for (Dock* dock : m_docks->docks()) {
    if (dock->view() != nullptr) dock->view()->setModel(model);
  }
}

void ViewController::release() {
  m_canvas->setModel(nullptr);
  for (Dock* dock : m_docks->docks()) {
    if (dock->view() != nullptr) dock->view()->setModel(nullptr);
  }
}

}  // namespace spanscope::ui
