function m = cart_messages()
% Messages of device 'cart' of balance_octave.yaml, for MATLAB and Octave.
%
% Made by 'limberjack messages'; make it again when the device's wiring or layout changes.
% How to use it: docs/reference/devices.md
%
%   m = cart_messages();
%   [message, rest] = m.next(bytes)       the first whole message of the bytes received, [] if there is none yet, the rest
%   [signals, why] = m.unpack(message)    [] and a reason for what is no message
%   yes = m.newer(signals, last)          last: [] before the first
%   [bytes, commands] = m.pack(commands, signals)
%   m.commands                            to begin with
%
%   signals
%     .time                 simulated time, s
%     .q_cart               q.cart, m
%     .q_pole               q.pole, rad
%     .v_cart               v.cart, m/s
%     .v_pole               v.pole, rad/s
%   commands
%     .drive                drive, N
m = struct('next', @next, 'unpack', @unpack, 'newer', @newer, 'pack', @pack, 'commands', struct('sequence', 0, 'drive', 0));
end

function value = get(bytes, kind)
value = typecast((bytes), kind);
end

function bytes = put(value)
bytes = (typecast(value, 'uint8'));
end

function value = within(value, low, high)
if ~isnan(value)
    value = min(max(value, low), high);
end
end

function value = whole(value, low, high)
if isnan(value)
    value = 0;
end
value = within(value, low, high);
if abs(value - fix(value)) == 0.5
    value = 2 * round(value / 2);
end
value = round(value);
end

function [signals, why] = unpack(data)
% Signals of a message, or why it is not one.
signals = [];
data = uint8(data(:)');
if numel(data) ~= 60
    why = 'wrong size';
    return
end
if crc32(data(1:56)) ~= get(data(57:60), 'uint32')
    why = 'wrong check';
    return
end
if get(data(1:4), 'uint32') ~= uint32(1279918081)
    why = 'wrong constant';
    return
end
came.session = get(data(5:12), 'uint64');
came.sequence = double(get(data(13:16), 'uint32'));
came.time = double(get(data(17:24), 'double'));
came.q_cart = double(get(data(25:32), 'double'));
came.q_pole = double(get(data(33:40), 'double'));
came.v_cart = double(get(data(41:48), 'double'));
came.v_pole = double(get(data(49:56), 'double'));
if ~all(isfinite([came.time, came.q_cart, came.q_pole, came.v_cart, came.v_pole]))
    why = 'not finite';
    return
end
signals = came;
why = '';
end

function yes = newer(came, last)
% Whether signals are newer than the last ones taken ([]: none): links duplicate, delay and reorder messages.
yes = true;
if isempty(last) || came.session ~= last.session % the bench begins a run
    return
end
ahead = mod(came.sequence - last.sequence, 4294967296);
yes = ahead > 0 && ahead < 2147483648;
end

function [data, commands] = pack(commands, signals)
% The message that answers these signals; commands come back with their count one higher.
data = [ ...
    put(uint32(1279918082)), ...
    put(signals.session), ...
    put(uint32(mod(commands.sequence, 4294967296))), ...
    put(uint32(mod(signals.sequence, 4294967296))), ...
    put(double(commands.drive)), ...
    ];
commands.sequence = mod(commands.sequence + 1, 4294967296);
data = [data, put(crc32(data))];
data = frame(data);
end

function crc = crc32(data)
% Of Ethernet: reflected polynomial 0xEDB88320, from and to 0xFFFFFFFF. What each byte adds at its place is kept, and
% then only added up: a loop over bytes would take milliseconds.
persistent parts
size = numel(data);
if numel(parts) < size || isempty(parts{size})
    table = uint32(0:255);
    for bit = 1:8
        odd = bitand(table, uint32(1));
        table = bitxor(bitshift(table, -1), odd * uint32(3988292384));
    end
    part = zeros(size, 256, 'uint32');
    added = table;
    start = uint32(4294967295);
    for place = size:-1:1
        part(place, :) = added;
        added = bitxor(bitshift(added, -8), table(double(bitand(added, uint32(255))) + 1));
        start = bitxor(bitshift(start, -8), table(double(bitand(start, uint32(255))) + 1));
    end
    part(1, :) = bitxor(part(1, :), bitxor(start, uint32(4294967295)));
    parts{size} = part;
end
crc = summed(parts{size}((1:size) + size * double(data)));
end

function total = summed(words)
% Modulo 2, bit by bit.
while numel(words) > 1
    if mod(numel(words), 2)
        words(end + 1) = 0;
    end
    words = bitxor(words(1:2:end), words(2:2:end));
end
total = words;
end

function [message, rest] = next(rest)
% Messages end with a zero (COBS). What is no message is left out here or refused by unpack.
message = [];
rest = uint8(rest(:)');
while isempty(message)
    stop = find(rest == 0, 1);
    if isempty(stop)
        rest = rest(max(1, end - 62 + 1):end);
        return
    end
    message = uncobs(rest(1:stop - 1));
    rest = rest(stop + 1:end);
end
end

function data = uncobs(framed)
data = zeros(1, 0, 'uint8');
at = 1;
while at <= numel(framed)
    run = double(framed(at));
    if at + run > numel(framed) + 1
        data = [];
        return
    end
    data = [data, framed(at + 1:at + run - 1)];
    at = at + run;
    if run < 255 && at <= numel(framed)
        data = [data, uint8(0)];
    end
end
end

function framed = frame(data)
% Each run without zeros, at most 254 bytes, behind its length + 1; then a zero.
framed = zeros(1, 0, 'uint8');
stops = [find(data == 0), numel(data) + 1];
start = 1;
for stop = stops
    run = data(start:stop - 1);
    while numel(run) >= 254
        framed = [framed, uint8(255), run(1:254)];
        run = run(255:end);
    end
    framed = [framed, uint8(numel(run) + 1), run];
    start = stop + 1;
end
framed = [framed, uint8(0)];
end
