// SPDX-License-Identifier: GPL-3.0-or-later
// Time of a frame while a canvas of 1000 nodes is pushed about and zoomed, in software at 1280 × 800. Prints
// the 95th percentile of each, by the clock and by the processor's time, which other programs lengthen less;
// not a test, since it depends on the machine.
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/edits.h"
#include "ui/editor/canvas.h"
#include "ui/editor/canvas_core.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QGraphicsView>
#include <QScrollBar>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace spanscope;

constexpr int kNodes = 1000;
constexpr int kFrames = 240;

/// Generators of ten documents each below one judge: about 1000 nodes.
query::Node bigQuery() {
  query::Join judged{.kind = query::JoinKind::Cross, .children = {}};
  int nodes = 2;
  for (int group = 0; nodes < kNodes; ++group) {
    query::Join documents{.kind = query::JoinKind::Plus, .children = {}};
    for (int i = 0; i < 10; ++i) {
      documents.children.push_back({query::Message{.role = query::Role::User,
                                                   .text = "Document " + std::to_string(group * 10 + i) +
                                                           ": Mira lives in Lisbon. Mira plays the cello."}});
    }
    judged.children.push_back({query::Generate{
        .settings = {.model = "m", .maxTokens = 60, .temperature = 0.0F}, .input = query::Node{documents}}});
    nodes += 12;
  }
  return {query::Generate{.settings = {.model = "m", .maxTokens = {}, .temperature = {}},
                          .input = query::Node{judged}}};
}

struct Times {
  double wall = 0;
  double cpu = 0;
};

double slowest(std::vector<double>& times) {
  std::sort(times.begin(), times.end());
  return times[times.size() * 95 / 100];
}

/// Milliseconds of the slowest of the fastest 95 %.
Times measure(const std::function<void(int)>& step) {
  std::vector<double> wall;
  std::vector<double> cpu;
  for (int frame = 0; frame < kFrames; ++frame) {
    QElapsedTimer timer;
    timer.start();
    const std::clock_t before = std::clock();
    step(frame);
    QCoreApplication::processEvents();
    cpu.push_back(1000.0 * static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC);
    wall.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);
  }
  return {.wall = slowest(wall), .cpu = slowest(cpu)};
}

/// Twenty documents of 200 tokens, about 4000 in all: as they are shown, and each on its own.
void measureDocuments() {
  query::Join documents{.kind = query::JoinKind::Plus, .children = {}};
  for (int i = 0; i < 20; ++i) {
    std::string text = "Report " + std::to_string(i) + ".";
    for (int sentence = 0; sentence < 20; ++sentence) text += " A letter for Mira came late in autumn.";
    documents.children.push_back({query::Message{.role = query::Role::User, .text = text}});
  }
  ui::DocumentModel model(document::fromQuery({query::Generate{
      .settings = {.model = "m", .maxTokens = 60, .temperature = 0.0F}, .input = query::Node{documents}}}));
  ui::Canvas canvas;
  canvas.resize(1280, 800);
  canvas.setModel(&model);
  canvas.show();
  QCoreApplication::processEvents();
  auto* view = canvas.findChild<QGraphicsView*>();
  for (const bool stacked : {true, false}) {
    if (!stacked) canvas.findChild<ui::CanvasCore*>()->setRoom(0);
    for (const double zoom : {1.0, 0.6, 0.4}) {
      canvas.setPlace({.zoom = zoom, .center = {300, 400}});
      const Times pan = measure([view](int frame) {
        view->verticalScrollBar()->setValue(view->verticalScrollBar()->value() +
                                            (frame < kFrames / 2 ? 3 : -3));
      });
      std::printf("20 documents%s, pan at zoom %.2f: %.2f ms (processor %.2f ms)\n",
                  stacked ? ", stacked" : "", zoom, pan.wall, pan.cpu);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication application(argc, argv);
  ui::DocumentModel model(document::fromQuery(bigQuery()));
  ui::Canvas canvas;
  canvas.resize(1280, 800);
  canvas.setModel(&model);
  canvas.show();
  QCoreApplication::processEvents();
  auto* view = canvas.findChild<QGraphicsView*>();
  // Every node on its own: the most that there can be to paint.
  canvas.findChild<ui::CanvasCore*>()->setRoom(0);
  std::printf("%zu nodes, 1280 x 800, p95 of %d frames\n", model.document().size(), kFrames);
  for (const double zoom : {1.0, 0.5, 0.41, 0.3, 0.16, 0.1}) {
    canvas.setPlace({.zoom = zoom, .center = {600, 40000}});
    const Times pan = measure([view](int frame) {
      view->verticalScrollBar()->setValue(view->verticalScrollBar()->value() +
                                          (frame < kFrames / 2 ? 12 : -12));
    });
    std::printf("pan at zoom %.2f: %.2f ms (processor %.2f ms)\n", zoom, pan.wall, pan.cpu);
  }
  const Times zoomed = measure([&canvas](int frame) {
    const double zoom = std::exp(-1.5 + 1.5 * std::sin(frame * 0.05));
    canvas.setPlace({.zoom = zoom, .center = {600, 40000}});
  });
  std::printf("zoom 0.05 to 1: %.2f ms (processor %.2f ms)\n", zoomed.wall, zoomed.cpu);
  measureDocuments();
  return 0;
}
