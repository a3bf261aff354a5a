// SPDX-License-Identifier: GPL-3.0-or-later
// Time to open a recording of 1 000 000 events, to show each view of it, and to step through it. The events
// are those of real runs of the RAG example; once the cache is warm, the last run is repeated with new
// numbers.
#include "engine/trace/trace_file.h"
#include "tests/ui/views_run/recorded_runs.h"
#include "ui/views/view.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QFileInfo>
#include <QTemporaryDir>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

using namespace spanscope;

namespace {

constexpr std::size_t kEvents = 1'000'000;
constexpr int kOpenings = 5;

double milliseconds(const QElapsedTimer& timer) {
  return double(timer.nsecsElapsed()) / 1e6;
}

/// Resident memory of this process in MiB.
double residentMebibytes() {
  std::ifstream status("/proc/self/statm");
  double pages = 0;
  status >> pages >> pages;
  return pages * 4096 / (1024 * 1024);
}

/// Writes the events, then the last run of them again and again.
void writeLong(const std::filesystem::path& path, const std::vector<trace::Event>& events) {
  const auto isStart = [](const trace::Event& event) {
    return std::holds_alternative<trace::CacheCleared>(event.payload);
  };
  const auto lastStart = std::find_if(events.rbegin(), events.rend(), isStart).base() - 1;
  const std::vector<trace::Event> repeated(lastStart, events.end());
  RequestId mostRequests = 0;
  for (const trace::Event& event : events) mostRequests = std::max(mostRequests, event.request);
  RequestId firstRequest = mostRequests;
  for (const trace::Event& event : repeated) {
    if (event.request != 0) firstRequest = std::min(firstRequest, event.request);
  }
  const RequestId requests = mostRequests - firstRequest + 1;
  const std::int64_t length = events.back().time - repeated.front().time + 1'000'000;

  trace::TraceWriter writer(path, {.program = "bench_trace", .createdAt = 0});
  for (const trace::Event& event : events) writer.append(event);
  std::size_t count = events.size();
  for (std::uint64_t copy = 1; count < kEvents; ++copy) {
    for (trace::Event event : repeated) {
      event.sequence += copy * repeated.size();
      event.time += static_cast<std::int64_t>(copy) * length;
      if (event.run != 0) event.run += static_cast<RunId>(copy);
      if (event.request != 0) event.request += static_cast<RequestId>(copy * requests);
      if (auto* pass = std::get_if<trace::BatchComputed>(&event.payload)) {
        for (trace::BatchEntry& entry : pass->entries)
          entry.request += static_cast<RequestId>(copy * requests);
      }
      writer.append(event);
      if (++count == kEvents) break;
    }
  }
  writer.finish();
}

void openAndShow(const std::filesystem::path& path, const test::Recorded& recorded) {
  std::vector<double> times;
  std::shared_ptr<const ui::TraceStore> store;
  for (int i = 0; i < kOpenings; ++i) {
    store.reset();
    QElapsedTimer timer;
    timer.start();
    store = std::make_shared<const ui::TraceStore>(ui::TraceStore::open(path));
    times.push_back(milliseconds(timer));
  }
  std::sort(times.begin(), times.end());
  std::printf("open %zu events (%.1f MiB)     median %7.0f ms   %.0f to %.0f ms   resident %.0f MiB\n",
              store->size(), double(QFileInfo(QString::fromStdString(path.string())).size()) / (1024 * 1024),
              times[kOpenings / 2], times.front(), times.back(), residentMebibytes());
  if (!store->contradictions().empty())
    std::printf("contradictions: %s\n", store->contradictions().front().message().c_str());

  ui::ViewInput input;
  input.document = recorded.document;
  input.trace = store;
  input.paths = recorded.paths;
  for (const ui::ViewInfo& info : ui::viewTable()) {
    const std::unique_ptr<ui::View> view(info.make(nullptr));
    view->resize(1280, 800);
    view->show();
    QCoreApplication::processEvents();
    const auto give = [&](std::size_t position) {
      input.position = position;
      QElapsedTimer timer;
      timer.start();
      view->setInput(input);
      view->repaint();
      QCoreApplication::processEvents();
      return milliseconds(timer);
    };
    const double first = give(store->size());
    const double middle = give(store->size() / 2);
    std::vector<double> steps;
    for (std::size_t i = 1; i <= 20; ++i) steps.push_back(give(store->size() / 2 + i));
    std::sort(steps.begin(), steps.end());
    std::printf("%-14s shown %7.1f ms   jump to the middle %7.1f ms   step median %6.2f ms, most %6.2f ms\n",
                qPrintable(info.id), first, middle, steps[10], steps.back());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  const QApplication application(argc, argv);
  test::RunRecorder recorder;
  for (int i = 0; i < 4; ++i) {
    recorder.clearCache();
    recorder.run(test::exampleDocument("rag.json"));
  }
  const test::Recorded recorded = recorder.recorded();
  const QTemporaryDir folder;
  const std::filesystem::path path = folder.filePath(QStringLiteral("long.spantrace")).toStdString();
  writeLong(path, recorded.events);
  openAndShow(path, recorded);
  return 0;
}
