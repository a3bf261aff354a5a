// SPDX-License-Identifier: GPL-3.0-or-later
// KV events as vLLM writes them: the bytes of its own publisher for the same events.
#include "engine/base/error.h"
#include "engine/remote/server/kv_events.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QTemporaryDir>
#include <QtEndian>
// Qt Test needs this type to compare JSON values.
#include <QTest>
#include <qfloat16.h>

#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <zlib.h>
#include <zmq.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

using namespace spanscope;
using namespace spanscope::server;

namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

std::string hex(const std::string& bytes) {
  return QByteArray::fromStdString(bytes).toHex().toStdString();
}

/// The bytes of a file that gzip has packed; empty where there is none.
std::string unpacked(const char* path) {
  std::string bytes;
  gzFile file = gzopen(path, "rb");
  if (file == nullptr) return bytes;
  std::array<char, 65536> part{};
  for (int count = gzread(file, part.data(), part.size()); count > 0;
       count = gzread(file, part.data(), part.size()))
    bytes.append(part.data(), static_cast<std::size_t>(count));
  gzclose(file);
  return bytes;
}

/// The events of a recorded payload; nothing for those that have what our engine cannot say.
std::optional<std::vector<KvEvent>> eventsOf(const Json& list) {
  std::vector<KvEvent> events;
  for (const Json& one : list) {
    if (!one.is_object()) return std::nullopt;
    const std::string type = one.at("type").get<std::string>();
    if (type == "AllBlocksCleared") {
      events.emplace_back(KvCleared{});
      continue;
    }
    const std::size_t newer =
        one.contains("extra_keys") + one.contains("group_idx") + one.contains("kv_cache_spec_kind");
    const bool isPlain =
        one.size() - newer == (type == "BlockStored" ? 8U : 3U) && one["block_hashes"][0].is_number();
    if (!isPlain) return std::nullopt;
    const auto group =
        one.contains("group_idx") ? std::optional(one["group_idx"].get<std::int64_t>()) : std::nullopt;
    const auto text = [&](const char* key) {
      return one[key].is_null() ? std::nullopt : std::optional(one[key].get<std::string>());
    };
    const auto hashes = one["block_hashes"].get<std::vector<std::uint64_t>>();
    if (type == "BlockRemoved") {
      events.emplace_back(KvBlocksRemoved{.hashes = hashes, .medium = text("medium"), .group = group});
      continue;
    }
    KvBlocksStored stored;
    stored.hashes = hashes;
    if (!one["parent_block_hash"].is_null()) stored.parent = one["parent_block_hash"].get<std::uint64_t>();
    stored.tokens = one["token_ids"].get<std::vector<TokenId>>();
    stored.blockSize = one["block_size"].get<std::int32_t>();
    if (!one["lora_id"].is_null()) stored.loraId = one["lora_id"].get<std::int64_t>();
    stored.medium = text("medium");
    stored.loraName = text("lora_name");
    if (one.contains("extra_keys")) {
      stored.extraKeys.emplace();
      for (const Json& keys : one["extra_keys"])
        stored.extraKeys->push_back(keys.is_null() ? KvExtraKeys() : keys.get<std::vector<std::string>>());
    }
    stored.group = group;
    if (one.contains("kv_cache_spec_kind")) stored.kind = one["kv_cache_spec_kind"].get<std::string>();
    events.emplace_back(std::move(stored));
  }
  return events;
}

trace::Event madeEvent(trace::Payload payload) {
  trace::Event made;
  made.payload = std::move(payload);
  return made;
}

trace::Event stored(std::uint64_t key, std::uint64_t parent, std::int32_t index,
                    std::vector<TokenId> tokens) {
  return madeEvent(trace::BlockStored{.block = 1,
                                      .key = {.high = 9, .low = key},
                                      .parent = {.high = 9, .low = parent},
                                      .segment = 0,
                                      .virtualIndex = index,
                                      .base = 0,
                                      .tokens = std::move(tokens)});
}

trace::Event removed(std::uint64_t key, trace::RemovalReason reason = trace::RemovalReason::Evicted) {
  return madeEvent(trace::BlockRemoved{.block = 1, .key = {.high = 9, .low = key}, .reason = reason});
}

struct Zmq {
  Zmq(int type, const std::string& endpoint) : context(zmq_ctx_new()), socket(zmq_socket(context, type)) {
    const int timeout = 5000;
    zmq_setsockopt(socket, ZMQ_RCVTIMEO, &timeout, sizeof timeout);
    if (type == ZMQ_SUB) zmq_setsockopt(socket, ZMQ_SUBSCRIBE, "", 0);
    zmq_connect(socket, endpoint.c_str());
  }
  ~Zmq() {
    const int none = 0;
    zmq_setsockopt(socket, ZMQ_LINGER, &none, sizeof none);
    zmq_close(socket);
    zmq_ctx_term(context);
  }
  std::vector<std::string> receive() const {
    std::vector<std::string> frames;
    int more = 1;
    while (more != 0) {
      std::array<char, 65536> buffer{};
      const int size = zmq_recv(socket, buffer.data(), buffer.size(), 0);
      if (size < 0) return {};
      frames.emplace_back(buffer.data(), static_cast<std::size_t>(size));
      std::size_t length = sizeof more;
      zmq_getsockopt(socket, ZMQ_RCVMORE, &more, &length);
    }
    return frames;
  }
  void send(const std::vector<std::string>& frames) const {
    for (std::size_t i = 0; i < frames.size(); ++i)
      zmq_send(socket, frames[i].data(), frames[i].size(), i + 1 < frames.size() ? ZMQ_SNDMORE : 0);
  }
  void* context;
  void* socket;
};

std::vector<KvEvent> cleared() {
  return {KvEvent(KvCleared{})};
}

}  // namespace

class TestKvEvents : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void numbers_data();
  void numbers();
  void bytesAreThoseOfVllm();
  void fieldsAreThoseOfALiveVllm();
  void chainsAreJoined();
  void saltsAreExtraKeys();
  void copiesCountOnce();
  void tailsAreNotTold();
  void publishesAndReplays();
  void portsAreKnown();
  void othersCannotReachIt();
  void filesAreKept();
};

void TestKvEvents::numbers_data() {
  QTest::addColumn<qint64>("number");
  QTest::addColumn<QString>("bytes");
  QTest::newRow("0") << qint64(0) << "00";
  QTest::newRow("127") << qint64(127) << "7f";
  QTest::newRow("128") << qint64(128) << "cc80";
  QTest::newRow("256") << qint64(256) << "cd0100";
  QTest::newRow("65536") << qint64(65536) << "ce00010000";
  QTest::newRow("2^32") << (qint64(1) << 32) << "cf0000000100000000";
  QTest::newRow("-1") << qint64(-1) << "ff";
  QTest::newRow("-32") << qint64(-32) << "e0";
  QTest::newRow("-33") << qint64(-33) << "d0df";
  QTest::newRow("-129") << qint64(-129) << "d1ff7f";
  QTest::newRow("least") << std::numeric_limits<qint64>::min() << "d38000000000000000";
}

void TestKvEvents::numbers() {
  QFETCH(qint64, number);
  QFETCH(QString, bytes);
  MessagePack pack;
  pack.add(std::int64_t{number});
  QCOMPARE(hex(pack.bytes()), bytes.toStdString());
}

void TestKvEvents::bytesAreThoseOfVllm() {
  QFile file(SPANSCOPE_GOLDEN_DIR "/vllm/events.jsonl");
  if (!file.open(QIODevice::ReadOnly)) QSKIP("golden/vllm is not there");
  int compared = 0;
  while (!file.atEnd()) {
    const Json line = Json::parse(file.readLine().toStdString());
    if (line["encoding"] != "maps" || !line["payload"].is_array()) continue;
    const Json& payload = line["payload"];
    const auto events = eventsOf(payload[1]);
    if (!events) continue;
    const KvBatch batch{.time = payload[0].get<double>(), .events = *events, .rank = payload[2].get<int>()};
    QCOMPARE(hex(packed(batch)), line["frames"].back().get<std::string>());
    ++compared;
  }
  QVERIFY2(compared >= 6, qPrintable(QString::number(compared)));
}

/// What vLLM 0.32 published: frames of a u32 length each, after their number.
void TestKvEvents::fieldsAreThoseOfALiveVllm() {
  const std::string frames = unpacked(SPANSCOPE_GOLDEN_DIR "/vllm-events/events.bin.gz");
  const std::string lines = unpacked(SPANSCOPE_GOLDEN_DIR "/vllm-events/events.jsonl.gz");
  if (frames.empty() || lines.empty()) QSKIP("golden/vllm-events is not there");
  std::size_t place = 0;
  const auto number = [&] {
    std::uint32_t value = 0;
    std::memcpy(&value, frames.data() + place, sizeof value);
    place += sizeof value;
    return std::size_t{qFromLittleEndian(value)};
  };
  int compared = 0;
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = lines.find('\n', begin);
    const Json batch = Json::parse(lines.substr(begin, end - begin))["batch"];
    begin = end + 1;
    std::string payload;
    for (std::size_t left = number(); left > 0; --left) {
      const std::size_t size = number();
      payload = frames.substr(place, size);
      place += size;
    }
    const auto events = eventsOf(batch[1]);
    QVERIFY(events);
    // vLLM 0.33 writes the number of fields in another form than 0.32; the fields and their order are the
    // same.
    const std::string own =
        packed({.time = batch[0].get<double>(), .events = *events, .rank = batch[2].get<int>()});
    QCOMPARE(OrderedJson::from_msgpack(own).dump(), OrderedJson::from_msgpack(payload).dump());
    ++compared;
  }
  QVERIFY(compared > 200);
}

void TestKvEvents::chainsAreJoined() {
  KvEventForm form(2);
  QVERIFY(form.take(stored(1, 100, 0, {10, 11})).empty());
  QVERIFY(form.take(stored(2, 1, 1, {12, 13})).empty());
  QVERIFY(form.take(stored(3, 200, 0, {14, 15})).empty());
  const std::vector<KvEvent> events = form.take(madeEvent(trace::BatchComputed{}));
  QCOMPARE(events.size(), std::size_t{2});
  const auto& first = std::get<KvBlocksStored>(events[0]);
  QCOMPARE(first.hashes, (std::vector<std::uint64_t>{1, 2}));
  QVERIFY(!first.parent);
  QCOMPARE(first.tokens, (std::vector<TokenId>{10, 11, 12, 13}));
  QCOMPARE(first.extraKeys, (std::vector<KvExtraKeys>{{}, {}}));
  QCOMPARE(first.group, std::optional<std::int64_t>(0));
  QCOMPARE(first.kind, std::optional<std::string>("full_attention"));
  QCOMPARE(std::get<KvBlocksStored>(events[1]).hashes, (std::vector<std::uint64_t>{3}));
  // What goes on with an earlier block names it.
  form.take(stored(4, 2, 2, {16, 17}));
  QCOMPARE(std::get<KvBlocksStored>(form.take(madeEvent(trace::RunFinished{}))[0]).parent,
           std::optional<std::uint64_t>(2));
  QVERIFY(form.take(madeEvent(trace::BatchComputed{})).empty());
}

/// As vLLM has it, the first block of a chain has the salt of its request.
void TestKvEvents::saltsAreExtraKeys() {
  KvEventForm form(1);
  const auto storedBy = [&](RunId run, std::uint64_t key, std::uint64_t parent, std::int32_t index) {
    trace::Event event = stored(key, parent, index, {5});
    event.run = run;
    form.take(event);
  };
  form.setExtraKey(7, "a");
  storedBy(7, 1, 0, 0);
  storedBy(7, 2, 1, 1);
  storedBy(8, 3, 0, 0);
  const auto events = form.take(madeEvent(trace::BatchComputed{}));
  const KvExtraKeys salt = std::vector<std::string>{"a"};
  QCOMPARE(std::get<KvBlocksStored>(events.at(0)).extraKeys, (std::vector<KvExtraKeys>{salt, {}}));
  QCOMPARE(std::get<KvBlocksStored>(events.at(1)).extraKeys, (std::vector<KvExtraKeys>{{}}));
  // A run that has ended has none any more.
  trace::Event end = madeEvent(trace::RunFinished{});
  end.run = 7;
  form.take(end);
  storedBy(7, 4, 0, 0);
  QCOMPARE(std::get<KvBlocksStored>(form.take(madeEvent(trace::BatchComputed{})).at(0)).extraKeys,
           (std::vector<KvExtraKeys>{{}}));
}

void TestKvEvents::copiesCountOnce() {
  KvEventForm form(1);
  form.take(stored(1, 0, 0, {5}));
  form.take(stored(1, 0, 0, {5}));
  QCOMPARE(form.take(madeEvent(trace::BatchComputed{})).size(), std::size_t{1});
  form.take(removed(1));
  QVERIFY(form.take(madeEvent(trace::BatchComputed{})).empty());
  form.take(removed(1));
  const auto events = form.take(madeEvent(trace::BatchComputed{}));
  QCOMPARE(std::get<KvBlocksRemoved>(events.at(0)).hashes, (std::vector<std::uint64_t>{1}));
  // The whole cache goes with one event.
  form.take(stored(2, 0, 0, {6}));
  form.take(madeEvent(trace::BatchComputed{}));
  form.take(removed(2, trace::RemovalReason::Cleared));
  QCOMPARE(form.take(madeEvent(trace::CacheCleared{})), cleared());
}

void TestKvEvents::tailsAreNotTold() {
  KvEventForm form(4);
  form.take(stored(1, 0, 0, {5, 6, 7}));
  form.take(removed(1, trace::RemovalReason::Grown));
  QVERIFY(form.take(madeEvent(trace::BatchComputed{})).empty());
}

void TestKvEvents::publishesAndReplays() {
  const std::string endpoint =
      "ipc:///tmp/spanscope-kv-" + std::to_string(QCoreApplication::applicationPid());
  KvPublisher publisher({.endpoint = endpoint, .replayEndpoint = endpoint + "-replay", .topic = "kv"});
  const Zmq subscriber(ZMQ_SUB, endpoint);
  // A subscription takes a moment to arrive, and what came before it is lost.
  std::vector<std::string> frames;
  for (int i = 0; i < 100 && frames.empty(); ++i) {
    publisher.publish(cleared());
    const int soon = 50;
    zmq_setsockopt(subscriber.socket, ZMQ_RCVTIMEO, &soon, sizeof soon);
    frames = subscriber.receive();
  }
  QCOMPARE(frames.size(), std::size_t{3});
  QCOMPARE(frames[0], std::string("kv"));
  QCOMPARE(frames[1].size(), std::size_t{8});
  QVERIFY(hex(frames[2]).ends_with("9181a474797065b0416c6c426c6f636b73436c656172656400"));

  for (int i = 0; i < 3; ++i) publisher.publish(cleared());
  QTest::qWait(50);
  const Zmq dealer(ZMQ_DEALER, endpoint + "-replay");
  dealer.send({"garbage"});
  dealer.send({"", std::string("\0\0\0\0\0\0\0\1", 8)});
  std::uint64_t expected = 1;
  while (true) {
    const std::vector<std::string> again = dealer.receive();
    QCOMPARE(again.size(), std::size_t{4});
    if (again[2] == std::string(8, '\xFF')) {
      QCOMPARE(again[1] + again[3], std::string());
      break;
    }
    QCOMPARE(hex(again[2]), QString("%1").arg(expected, 16, 16, QChar('0')).toStdString());
    ++expected;
  }
  QVERIFY(expected >= 4);
}

/// Where any port was asked for, readers need to know the one that was taken.
void TestKvEvents::portsAreKnown() {
  const KvPublisher publisher({.endpoint = "tcp://127.0.0.1:0", .replayEndpoint = "tcp://127.0.0.1:*"});
  for (const std::string& endpoint : {publisher.endpoint(), publisher.replayEndpoint()}) {
    QVERIFY2(endpoint.starts_with("tcp://127.0.0.1:"), endpoint.c_str());
    QVERIFY(std::stoi(endpoint.substr(endpoint.rfind(':') + 1)) > 0);
  }
  QVERIFY(publisher.endpoint() != publisher.replayEndpoint());
  QVERIFY(KvPublisher({.endpoint = "tcp://127.0.0.1:0", .replayEndpoint = {}}).replayEndpoint().empty());
}

void TestKvEvents::othersCannotReachIt() {
  for (const char* endpoint : {"tcp://*:0", "tcp://0.0.0.0:5557", "tcp://10.0.0.1:5557", "udp://127.0.0.1:1",
                               "inproc://events", "tcp://127.0.0.1:65536", "tcp://127.0.0.1:70000",
                               "tcp://127.0.0.1:-1", "tcp://127.0.0.1:1x", "tcp://127.0.0.1", "ipc://", ""})
    QVERIFY_EXCEPTION_THROWN(KvPublisher({.endpoint = endpoint, .replayEndpoint = {}}), Failure);
}

void TestKvEvents::filesAreKept() {
  const QTemporaryDir folder;
  QFile file(folder.filePath("notes"));
  QVERIFY(file.open(QIODevice::WriteOnly));
  file.write("mine");
  file.close();
  const QString link = folder.filePath("link");
  QVERIFY(QFile::link(file.fileName(), link));
  for (const QString& path : {file.fileName(), link, folder.path()})
    QVERIFY_EXCEPTION_THROWN(KvPublisher({.endpoint = "ipc://" + path.toStdString(), .replayEndpoint = {}}),
                             Failure);
  QVERIFY(file.open(QIODevice::ReadOnly));
  QCOMPARE(file.readAll(), QByteArray("mine"));

  // The socket of another program stays; one without a listener is left from an earlier run.
  const std::string endpoint = "ipc://" + folder.filePath("socket").toStdString();
  {
    const KvPublisher first({.endpoint = endpoint, .replayEndpoint = {}});
    QVERIFY_EXCEPTION_THROWN(KvPublisher({.endpoint = endpoint, .replayEndpoint = {}}), Failure);
    QVERIFY(QFile::exists(folder.filePath("socket")));
  }
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  folder.filePath("socket").toStdString().copy(address.sun_path, sizeof address.sun_path - 1);
  const int left = socket(AF_UNIX, SOCK_STREAM, 0);
  QFile::remove(folder.filePath("socket"));
  QCOMPARE(bind(left, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  close(left);
  QVERIFY(QFile::exists(folder.filePath("socket")));
  const KvPublisher again({.endpoint = endpoint, .replayEndpoint = {}});
}

SPANSCOPE_TEST(tst_kv_events, TestKvEvents, QCoreApplication)
#include "tst_kv_events.moc"
