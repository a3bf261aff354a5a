// SPDX-License-Identifier: GPL-3.0-or-later
// Processor time of a frame while the pool, the block table and the token strip are scrolled at 1280×800:
// with the max content, and with a usual document, twenty documents (some 3 700 tokens); and of a frame while
// a trace of twenty documents is played with motion.
#include "tests/ui/views/common/traced_requests.h"
#include "tests/ui/views/common/twenty_documents.h"
#include "ui/views/attention/attention_view.h"
#include "ui/views/block_table/block_table_view.h"
#include "ui/views/pool/pool_view.h"
#include "ui/views/scrubber/scrubber_model.h"
#include "ui/views/tokens/token_strip_view.h"

#include <QAbstractScrollArea>
#include <QApplication>
#include <QElapsedTimer>
#include <QScrollBar>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <vector>

using namespace spanscope;

namespace {

constexpr int kFrames = 300;
constexpr int kPlayedFrames = 4000;
constexpr double kFrameMilliseconds = 16;

double milliseconds(const QElapsedTimer& timer) {
  return double(timer.nsecsElapsed()) / 1e6;
}

/// Of this thread: other programs on the machine do not count.
double processorMilliseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) * 1e3 + double(time.tv_nsec) / 1e6;
}

void scroll(const char* name, ui::View& view, const ui::ViewInput& input, Qt::Orientation direction) {
  view.resize(1280, 800);
  QElapsedTimer timer;
  timer.start();
  view.setInput(input);
  view.show();
  QCoreApplication::processEvents();
  const double first = milliseconds(timer);
  auto* area = view.findChild<QAbstractScrollArea*>();
  QScrollBar* bar = direction == Qt::Vertical ? area->verticalScrollBar() : area->horizontalScrollBar();
  std::vector<double> times;
  for (int frame = 0; frame < kFrames; ++frame) {
    bar->setValue(static_cast<int>(std::int64_t{bar->maximum()} * frame / (kFrames - 1)));
    const double before = processorMilliseconds();
    area->viewport()->repaint();
    times.push_back(processorMilliseconds() - before);
  }
  std::sort(times.begin(), times.end());
  const auto at = [&](double share) { return times[static_cast<std::size_t>(share * (kFrames - 1))]; };
  std::printf("%-36s first %7.2f ms   frame: median %6.2f ms   p95 %6.2f ms   most %6.2f ms\n", name, first,
              at(0.5), at(0.95), at(1.0));
}

/// Plays the trace at normal speed and shows every frame of it: the time of a frame is that of input, moment
/// and painting.
template <class View>
void play(const char* name, const ui::ViewInput& input) {
  View view;
  view.resize(1280, 800);
  ui::ViewInput shown = input;
  shown.position = 0;
  ui::Player player;
  player.setMotion([] { return true; });
  player.follow(shown.trace, 0);
  ui::Moment moment;
  QObject::connect(&player, &ui::Player::momentChanged, &view,
                   [&moment](const ui::Moment& now) { moment = now; });
  view.setInput(shown);
  view.show();
  QCoreApplication::processEvents();
  std::vector<double> times;
  player.setPlaying(true);
  for (int frame = 0; frame < kPlayedFrames && player.isPlaying(); ++frame) {
    player.advance(kFrameMilliseconds);
    shown.position = player.position();
    const double before = processorMilliseconds();
    view.setMoment(moment);
    view.setInput(shown);
    QCoreApplication::processEvents(QEventLoop::ExcludeUserInputEvents);
    times.push_back(processorMilliseconds() - before);
    player.follow(shown.trace, shown.position);
  }
  player.setPlaying(false);
  std::sort(times.begin(), times.end());
  const auto at = [&](double share) {
    return times[static_cast<std::size_t>(share * double(times.size() - 1))];
  };
  std::printf("%-36s %5zu played frames: median %6.2f ms   p95 %6.2f ms   most %6.2f ms\n", name,
              times.size(), at(0.5), at(0.95), at(1.0));
}

}  // namespace

int main(int argc, char** argv) {
  if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  const QApplication application(argc, argv);
  {
    test::TraceMaker maker(16, 100'000);
    maker.computedRequest(1, 1, 160'000, 1);
    ui::PoolView view;
    scroll("pool, 100 000 blocks", view, maker.input(), Qt::Vertical);
    ui::PoolView aged;
    aged.setShade(ui::PoolShade::Age);
    scroll("pool by age, 100 000 blocks", aged, maker.input(), Qt::Vertical);
  }
  for (const std::int32_t blockSize : {2, 16, 32}) {
    test::TraceMaker maker(blockSize, 30'001);
    for (RequestId id = 1; id <= 3; ++id)
      maker.computedRequest(id, id, 10'000 * blockSize, 1 + static_cast<BlockId>(id - 1) * 10'000);
    ui::BlockTableView view;
    const QByteArray name = "block table, 3 × 10 000 blocks of " + QByteArray::number(blockSize);
    scroll(name.constData(), view, maker.input(), Qt::Horizontal);
  }
  test::TraceMaker maker(16, 4'000);
  maker.computedRequest(1, 1, 50'000, 1);
  ui::TokenStripView view;
  scroll("token strip, 50 000 tokens", view, maker.input(), Qt::Vertical);
  const ui::ViewInput documents = test::twentyDocuments();
  ui::PoolView pool;
  scroll("pool, 20 documents", pool, documents, Qt::Vertical);
  ui::BlockTableView table;
  scroll("block table, 20 documents", table, documents, Qt::Horizontal);
  ui::TokenStripView strip;
  scroll("token strip, 20 documents", strip, documents, Qt::Vertical);
  play<ui::PoolView>("pool, 20 documents, played", documents);
  play<ui::BlockTableView>("block table, 20 documents, played", documents);
  play<ui::TokenStripView>("token strip, 20 documents, played", documents);
  play<ui::AttentionView>("attention, 20 documents, played", documents);
  return 0;
}
