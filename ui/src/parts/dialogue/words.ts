import { dictionary } from '../../i18n';

/** What the dialogue says about itself. */
export const words = dictionary(
  {
    dialogue: 'Dialogue up to the playhead',
    none: 'Nothing said yet',
    noneText: 'No message up to the playhead.',
    fault: 'The dialogue could not be read',
    missing: 'Its text is missing from the log.',
    showAll: 'Show all',
    showLess: 'Show less',
    reading: 'Reading…',
    outOfContext: "no longer in the model's context",
    drift: 'The execution says otherwise',
    call: 'call',
    goCall: (n: string) => `Go to its call, event ${n}`,
    goEvent: (n: string) => `Go to event ${n}`,
    contextEdge: "In the model's context from here on",
    empty: 'empty message',
  },
  {
    dialogue: '到播放头为止的对话',
    none: '尚无对话',
    noneText: '到播放头为止没有消息。',
    fault: '无法读取对话',
    missing: '日志中缺少它的文本。',
    showAll: '全部显示',
    showLess: '收起',
    reading: '正在读取…',
    outOfContext: '已不在模型的上下文中',
    drift: '执行记录与此不符',
    call: '调用',
    goCall: (n) => `转到它的调用，事件 ${n}`,
    goEvent: (n) => `转到事件 ${n}`,
    contextEdge: '从这里起在模型的上下文中',
    empty: '空消息',
  },
);
